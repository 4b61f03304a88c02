//! Input made to break a reader: each is answered, in memory and time that fit its size.

use countersign_contract::fault::FaultKind;
use countersign_contract::{DEPTH_MAX, Form, SIZE_MAX, parse};

const FORMS: [Form; 4] = [Form::Json, Form::JsonLines, Form::Yaml, Form::Markdown];

fn kind(text: &str, form: Form) -> Option<FaultKind> {
    parse(text, form, SIZE_MAX).err().map(|fault| fault.kind)
}

#[test]
fn nesting_is_refused_one_level_beyond_the_limit() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for form in [Form::Json, Form::Yaml] {
        assert_eq!(kind(&nested(DEPTH_MAX), form), None, "{form:?}");
        assert_eq!(kind(&nested(DEPTH_MAX + 1), form), Some(FaultKind::Limit), "{form:?}");
        assert_eq!(kind(&nested(100_000), form), Some(FaultKind::Limit), "{form:?}");
        assert_eq!(kind(&"{\"a\":".repeat(100_000), form), Some(FaultKind::Limit), "{form:?}");
    }
    let block: String = (0..DEPTH_MAX + 1).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert_eq!(kind(&block, Form::Yaml), Some(FaultKind::Limit));
}

#[test]
fn size_is_refused_before_anything_is_read() {
    let large = " ".repeat(1025);
    for form in FORMS {
        assert_eq!(parse(&large, form, 1024).err().map(|fault| fault.kind), Some(FaultKind::Limit), "{form:?}");
    }
}

#[test]
fn many_values_are_refused() {
    let list = format!("[{}1]", "1,".repeat(countersign_contract::NODES_MAX));
    assert_eq!(kind(&list, Form::Json), Some(FaultKind::Limit));
}

#[test]
fn an_alias_bomb_does_not_go_off() {
    let mut bomb = "a: &a [lol]\n".to_owned();
    for (this, that) in ('b'..='j').zip('a'..) {
        bomb.push_str(&format!(
            "{this}: &{this} [*{that},*{that},*{that},*{that},*{that},*{that},*{that},*{that},*{that}]\n"
        ));
    }
    assert_eq!(kind(&bomb, Form::Yaml), Some(FaultKind::YamlFeature));
}

/// Keys that differ only in the middle share length, head and tail, which is all that the quick comparison looks at.
#[test]
fn many_keys_that_look_alike_cost_no_more_than_others() {
    let members: Vec<String> = (0..200_000).map(|number| format!("\"headhead{number:08}tailtail\":0")).collect();
    let text = format!("{{{}}}", members.join(","));
    assert_eq!(kind(&text, Form::Json), None);
    let twice = format!("{{{},\"headhead00000007tailtail\":1}}", members.join(","));
    assert_eq!(kind(&twice, Form::Json), Some(FaultKind::DuplicateKey));
}

#[test]
fn scraps_are_answered_in_every_form() {
    let scraps = [
        "",
        " ",
        "\u{feff}",
        "\0",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ":",
        "-",
        "---",
        "--- ",
        "---\n---\n",
        "---\n---",
        "...",
        "\\",
        "{\"",
        "{\"a",
        "{\"a\"",
        "{\"a\":",
        "\"\\",
        "\"\\u",
        "\"\\u12",
        "\"\\ud83d\\u",
        "\u{2028}",
        "\u{202e}",
        "&",
        "*",
        "!",
        "|",
        ">",
        "%",
        "@",
        "`",
        "? ",
        "- - - -",
        "a:\n\tb",
        "a: b: c",
        "\"a\": 'b",
        "{a",
        "[a",
        "#",
        "# x",
        "\r",
        "\r\n",
        "a\rb",
        "\u{85}",
        "\u{7f}",
        "- |\n \t",
        ">-\n\n\n",
        "é",
        "漢",
        "😀",
        "{\"a\":\"\u{d7ff}\"}",
        "1e",
        "-",
        "+",
        ".",
        "-.",
        "0x",
        "1__2",
        "<<",
        "<<: *a",
        "!!binary x",
        "a: !<x> b",
    ];
    for scrap in scraps {
        for form in FORMS {
            let _ = parse(scrap, form, SIZE_MAX).map(|document| {
                let root = document.root();
                let _ = (root.to_value(), root.compact(), root.canonical(), root.pointer());
            });
        }
    }
}
