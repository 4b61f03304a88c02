//! Counts steps in unit tests, so that "linear" is tested without a clock. In every other build a step is nothing.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// One character looked at, one question to a table, or one entry taken from a queue.
#[inline(always)]
pub(crate) fn step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

/// The steps that `action` takes.
#[cfg(test)]
pub(crate) fn steps_of<T>(action: impl FnOnce() -> T) -> u64 {
    let before = STEPS.with(std::cell::Cell::get);
    std::hint::black_box(action());
    STEPS.with(std::cell::Cell::get) - before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoding;

    /// The longer text must not cost more for each byte than the shorter one.
    const SIZES: [usize; 2] = [1 << 13, 1 << 16];

    /// The most steps for a byte of any text: a merge is three, and windows that agree only at the second try make
    /// that four times as many.
    const STEPS_PER_BYTE_MAX: f64 = 16.0;

    fn hostile(bytes: usize) -> Vec<(&'static str, String)> {
        let mut state = 1_u32;
        let mut random = move |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let repeated = |unit: &str| unit.repeat(bytes / unit.len());
        vec![
            ("one letter", repeated("a")),
            ("two letters", repeated("ab")),
            ("changing case", repeated("aA")),
            ("upper case and marks", repeated("A\u{301}AAAAAAAA")),
            ("one mark, then upper case", format!("\u{301}{}", repeated("A"))),
            ("spaces", repeated(" ")),
            ("spaces before a letter", repeated("      x")),
            ("line breaks", repeated("\n")),
            ("line breaks and spaces", repeated("\r\n \t")),
            ("one line break, then spaces", format!("\n{}x", repeated(" "))),
            ("unusual spaces", repeated("\u{a0}\u{3000}")),
            ("signs", repeated("-=")),
            ("digits", repeated("0")),
            ("apostrophes", repeated("'")),
            ("contractions", repeated("'s'll")),
            ("one ideograph", repeated("中")),
            ("emoji", repeated("👨‍👩‍👧")),
            ("random letters", (0..bytes).map(|_| char::from(b'a' + random(26) as u8)).collect()),
            ("two random letters", (0..bytes).map(|_| char::from(b'a' + random(2) as u8)).collect()),
            ("random spaces", (0..bytes).map(|_| [' ', '\t', '\n', '\r'][random(4) as usize]).collect()),
            ("random ideographs", (0..bytes / 3).filter_map(|_| char::from_u32(0x4E00 + random(0x5000))).collect()),
            ("random characters", (0..bytes / 4).filter_map(|_| char::from_u32(random(0x11_0000))).collect()),
        ]
    }

    #[test]
    fn no_text_costs_more_than_its_length() {
        let [short, long] = SIZES.map(hostile);
        for ((name, short), (_, long)) in short.iter().zip(&long) {
            for encoding in Encoding::ALL {
                let [few, many] = [short, long].map(|text| steps_of(|| encoding.count(text)));
                let per_byte = |steps: u64, text: &str| steps as f64 / text.len() as f64;
                let (few, many) = (per_byte(few, short), per_byte(many, long));
                assert!(many <= few * 1.1 + 0.1, "{encoding}, {name}: {few:.2} steps a byte, then {many:.2}");
                assert!(many <= STEPS_PER_BYTE_MAX, "{encoding}, {name}: {many:.2} steps a byte");
            }
        }
    }

    /// What is far above a limit costs as little as what just meets it, and what its length decides costs nothing.
    #[test]
    fn a_limit_bounds_the_work() {
        let steps = |text: &str, limit| steps_of(|| Encoding::O200kBase.count_within(text, limit));
        let [short, long] = [1 << 10, 1 << 14].map(|times| "a few words, ".repeat(times));
        assert_eq!(steps(&short, 1000), steps(&long[..short.len() * 2], 1000));
        assert_eq!(steps(&long, 1000), 0);
    }
}
