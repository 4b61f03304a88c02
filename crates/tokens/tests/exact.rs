//! Counts equal the reference's. The oracle is `tiktoken-rs`, which runs OpenAI's own algorithm and patterns.

use countersign_tokens::Encoding;
use proptest::prelude::*;

fn reference(encoding: Encoding, text: &str) -> usize {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton().count_ordinary(text),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton().count_ordinary(text),
        Encoding::Chars4 => text.chars().count().div_ceil(4),
    }
}

/// Everything that is promised about one text.
fn check(text: &str) {
    for encoding in Encoding::ALL {
        let expected = reference(encoding, text);
        assert_eq!(encoding.count(text), expected, "{encoding} of {text:?}");

        assert_eq!(encoding.count_within(text, expected), Some(expected), "{encoding} of {text:?}");
        if let Some(below) = expected.checked_sub(1) {
            assert_eq!(encoding.count_within(text, below), None, "{encoding} of {text:?}");
        }

        let (lower, upper) = encoding.bounds(text);
        assert!(lower <= expected && expected <= upper, "{encoding} of {text:?}: {lower}..={upper}");
    }
}

/// One difficulty in each line; between them, what stands before and after it.
const HARD: &[&str] = &[
    "",
    "a",
    "\0",
    "\0\0\0",
    "hello world",
    // Contractions: in all cases, with the long s, cut short, twice, after marks and numbers, without a word before.
    "it's we'll I'd you've they're I'm don't",
    "IT'S WE'LL I'D YOU'VE THEY'RE I'M DON'T",
    "we'Ll we'lL you'vE you'Ve",
    "it'\u{17f} IT'\u{17f}tore '\u{17f} '\u{17e}",
    "'s 'store 'll 'l 'L 'v 're 'r ' '",
    "x's's's x''s x'",
    "a\u{301}'s \u{301}'s \u{301} 's 1's 你's ʰ's",
    "o'reilly O'Reilly l'été qu'est-ce d'accord 'tis",
    "x\u{2019}s x\u{2019}ll",
    // Case: runs, changes, letters without case between them, title case, marks at every place.
    "camelCase PascalCase SCREAMING_SNAKE HTTPServer XMLHttpRequest iOS aB AbC ABc",
    "ABʰCD ABʰcd abʰCD ʰABC ABCʰ ʰʰʰ",
    "ǅungla ǅUNGLA Aǅa ǈ",
    "\u{301}ABC \u{301}abc \u{301}Abc A\u{301}BC AB\u{301}C ABC\u{301} a\u{301}b",
    "!\u{301}abc !!\u{301}abc  \u{301}x \t\u{301}X",
    "ªº ĿÀéÎ ßẞ ſ ﬁ İiIı",
    "ABC你DEF abc你def 你ABC你",
    "نص عربي مع تَشْكِيل हिन्दी में पाठ ไทย한국어日本語テキスト",
    // Numbers: groups of three, other digits, fractions, roman, with signs.
    "1 12 123 1234 12345 123456 1234567890",
    "١٢٣٤٥ ½¾ Ⅷ ²³ 1½2 一二三 3.14159 1,000,000 0xFF 1e-9 a1b2c3",
    // Signs: with and without a space, before line breaks and slashes.
    "!!! ... --- === *** /// \\\\\\ ((())) {}[]<>",
    " ! !! \t!  !\u{a0}!\u{3000}!",
    "//\n//\r\n///\n\n/ /\n/x",
    "!\n!\r\n!\n\n\n!\r\r/\n/\n !\n / \n",
    "http://example.com/a/b?c=d&e=f#g user@example.com ~/.config $HOME",
    // Whitespace: runs before letters, numbers, signs, line breaks and the end; unusual spaces.
    " ",
    "  ",
    "   ",
    "\n",
    "\r\n",
    "\n\n\n",
    "\t",
    " \n",
    "\n ",
    " \n ",
    "\n\n  ",
    "  \n\n  \n",
    "a ",
    "a  ",
    "a\n",
    "a \n",
    "a\n ",
    "a\n  ",
    "a\n\n   ",
    "a \t \n\t ",
    "  a",
    "   a",
    "\ta",
    "\t\ta",
    " \ta",
    "\t a",
    "\n a",
    "\n  a",
    " \n  a",
    "\r\n\ta",
    "  1",
    "   1",
    "  !",
    "   !",
    "\t!",
    "\t\t1",
    "\n 1",
    "\n  !",
    "a\u{a0}b \u{a0}c\u{a0}\u{a0}d\u{3000}e\u{3000}\u{3000}f \u{3000}g\u{a0}\n\u{a0}h",
    "\u{85}\u{b}\u{c}\u{2028}\u{2029}a\u{85}b\u{2028}\u{2028}c\u{200b}d\u{feff}e\u{180e}f",
    "a\u{2003} \u{2003}\u{2009}b\u{1680}1\u{202f}!\u{205f}",
    // Emoji: joined, with skin tone, flags, keycaps, variation selectors.
    "😀👨‍👩‍👧‍👦👍🏽🇩🇪🇩🇪3️⃣❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u{20e3}",
    "Z̷̢̛͔a̸̧͝l̵͇̈́g̶̱̽ő̷̙",
    "\u{10ffff}\u{e000}\u{fffd}\u{ad}\u{200d}\u{378}𝒜𝓑𝔠𐐀𐐨𞤀𞤢",
    // What looks like special tokens is text.
    "<|endoftext|>",
    "a<|endoftext|>b<|fim_prefix|><|endofprompt|><|im_start|>",
    // Code.
    "fn main() {\n    println!(\"{}\", x[0]);\n}\n\n\n// end",
    "def f(x):\n\treturn {'a': [1, 2.5, None], \"b\": x**2}\n",
    "{\"a\":{\"b\":[1,null,true,\"\\u00e9\\n\"]},\"c\":-1.5e+10}",
];

#[test]
fn hard_cases() {
    HARD.iter().for_each(|text| check(text));
}

/// Each hard case beside each other: what ends a piece in one is what starts one in the next.
#[test]
fn hard_cases_side_by_side() {
    for left in HARD {
        check(&HARD.iter().map(|right| format!("{left}{right}")).collect::<String>());
    }
}

/// Every character before and behind a letter, a space and a sign, so that each one's class is tested.
#[test]
fn every_character() {
    let chars: Vec<char> = (0..=0x10_FFFF).filter_map(char::from_u32).collect();
    for block in chars.chunks(4096) {
        // Beyond the first two planes nearly all characters are alike; some of them are enough.
        let step = if u32::from(block[0]) < 0x2_0000 { 1 } else { 61 };
        let text: String = block.iter().step_by(step).map(|c| format!("{c}a{c}A {c}!{c}'s")).collect();
        for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
            assert_eq!(encoding.count(&text), reference(encoding, &text), "{encoding} from {:?}", block[0]);
        }
    }
}

/// Pieces on both sides of each limit inside the counting: short keys, the longest token, one window and more.
#[test]
fn runs_of_every_length() {
    for unit in ["a", " ", "\n", "-", "=", "é", "中", "ab", "aA", "xyz", "😀", "\u{301}", "\t", "0", "\r\n", "the"]
    {
        for len in (1..=20).chain(60..=70).chain(120..=140).chain(250..=260).chain([1022, 1023, 2100]) {
            check(&unit.repeat(len));
            check(&format!("x {}y", unit.repeat(len)));
        }
    }
}

/// The reference cuts each token out of a text of its own; a token alone is one token, and nearly so with neighbours.
#[test]
fn tokens_of_the_vocabulary() {
    for (encoding, bpe, ids) in [
        (Encoding::O200kBase, tiktoken_rs::o200k_base_singleton(), 199_998),
        (Encoding::Cl100kBase, tiktoken_rs::cl100k_base_singleton(), 100_256),
    ] {
        let texts: Vec<String> = (0..ids).step_by(3).filter_map(|id| bpe.decode(&[id]).ok()).collect();
        for some in texts.chunks(1000) {
            let text = some.concat();
            assert_eq!(encoding.count(&text), bpe.count_ordinary(&text), "{encoding} of {text:?}");
        }
    }
}

#[test]
fn long_pieces() {
    let mut state = 7_u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for alphabet in ["ab", "abc", "etaoinshrdlu", "abcdefghijklmnopqrstuvwxyz", "-=*", " \t", "\n\r ", "中文字äöü"]
    {
        let chars: Vec<char> = alphabet.chars().collect();
        let text: String = (0..5000).map(|_| chars[next(chars.len() as u32) as usize]).collect();
        check(&text);
    }
}

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,12}",
        2 => "[A-Z]?[a-zA-Z]{1,12}",
        2 => " {1,5}",
        1 => "[ \t\r\n\u{a0}\u{3000}]{1,6}",
        1 => "[0-9]{1,9}",
        1 => r#"[!-/:-@\[-`{-~]{1,6}"#,
        1 => "'(?i:s|t|re|ve|m|ll|d|\u{17f})",
        1 => r"\p{L}{1,6}",
        1 => r"[\p{M}\p{Lm}\p{Lu}\p{Lt}\p{Ll}]{1,8}",
        1 => r"[\p{N}\p{P}\p{S}]{1,6}",
        1 => r"[\p{Han}\p{Hiragana}\p{Hangul}\p{Arabic}\p{Devanagari}]{1,10}",
        1 => "[😀-🙏🇦-🇿\u{200d}\u{fe0f}🏻-🏿]{1,5}",
        1 => "\\PC{1,10}",
        1 => any::<char>().prop_map(String::from),
        1 => ("[a-z \\-=]", 1..300_usize).prop_map(|(unit, len)| unit.repeat(len)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mixture(fragments in prop::collection::vec(fragment(), 0..30)) {
        check(&fragments.concat());
    }

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn any_limit(fragments in prop::collection::vec(fragment(), 0..30), limit in 0..200_usize) {
        let text = fragments.concat();
        for encoding in Encoding::ALL {
            let count = encoding.count(&text);
            prop_assert_eq!(encoding.count_within(&text, limit), (count <= limit).then_some(count));
        }
    }
}
