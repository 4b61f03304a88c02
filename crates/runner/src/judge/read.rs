//! What a judge said, read strictly.

use super::{REASONING_MAX, Verdict, clean};
use crate::fence;
use serde::Deserialize;

/// How long an answer may be.
const ANSWER_MAX: usize = 1024 * 1024;

/// Read by a derived reader, because it refuses what a map would pass over: a member that stands twice, or one more.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    verdict: String,
    reasoning: String,
}

/// Reads the verdict of a judge that is a program, an agent or an endpoint: one JSON object with `verdict` and `reasoning`,
/// bare or in a code fence, with nothing around it. Anything else is no verdict, and the error says why.
///
/// A verdict without reasoning is none: nobody could check it.
pub fn read(text: &str) -> Result<(Verdict, String), String> {
    // It is recorded, where what looks like an answer is refused.
    const WANTED: &str =
        "answer with a JSON object of two texts, verdict (PASS, WARN or FAIL) and reasoning, and with nothing else";
    if text.len() > ANSWER_MAX {
        return Err(format!("the answer has {} bytes, more than {ANSWER_MAX}; {WANTED}", text.len()));
    }
    let text = fence::without(text).trim();
    if text.is_empty() {
        return Err(format!("the answer is empty; {WANTED}"));
    }
    // What the reader did not expect is quoted, and may be anything.
    let none = |why: &str| format!("the answer is no verdict ({}); {WANTED}", countersign_contract::show(why));
    if !text.starts_with('{') {
        // A derived reader would take a list for an object.
        return Err(none("it is no JSON object"));
    }
    let answer: Answer = serde_json::from_str(text).map_err(|error| none(&error.to_string()))?;
    let verdict = Verdict::parse(&answer.verdict).ok_or_else(|| none(&format!("it says {}", answer.verdict)))?;
    if answer.reasoning.trim().is_empty() {
        return Err(format!("the verdict {verdict} has no reasoning; {WANTED}"));
    }
    let reasoning = clean(answer.reasoning.trim(), REASONING_MAX);
    Ok((verdict, reasoning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_bare_and_in_a_fence() {
        let bare = r#"{"verdict": "PASS", "reasoning": "all is shown"}"#;
        let other_order = r#"{"reasoning":"all is shown","verdict":"PASS"}"#;
        let texts = [
            bare.to_owned(),
            other_order.to_owned(),
            format!("\n  {bare}\n"),
            format!("```json\n{bare}\n```"),
            format!("```\n{bare}\n```\n"),
            format!("```JSON\r\n{bare}\r\n```"),
        ];
        for text in texts {
            assert_eq!(read(&text), Ok((Verdict::Pass, "all is shown".to_owned())), "{text}");
        }
        for (word, verdict) in [("PASS", Verdict::Pass), ("WARN", Verdict::Warn), ("FAIL", Verdict::Fail)] {
            let text = format!(r#"{{"verdict": "{word}", "reasoning": "r"}}"#);
            assert_eq!(read(&text).map(|it| it.0), Ok(verdict));
        }
    }

    #[test]
    fn anything_else_is_no_verdict() {
        for text in [
            "",
            "   \n",
            "PASS",
            "null",
            "\"PASS\"",
            "[]",
            "{}",
            r#"["PASS", "because"]"#,
            r#"{"verdict": "PASS"}"#,
            r#"{"reasoning": "fine"}"#,
            r#"{"verdict": "PASS", "reasoning": "  "}"#,
            r#"{"verdict": "pass", "reasoning": "fine"}"#,
            r#"{"verdict": "PASS!", "reasoning": "fine"}"#,
            r#"{"verdict": ["PASS"], "reasoning": "fine"}"#,
            r#"{"verdict": {"PASS": null}, "reasoning": "fine"}"#,
            r#"{"verdict": "PASS", "reasoning": null}"#,
            r#"{"verdict": "FAIL", "verdict": "PASS", "reasoning": "fine"}"#,
            r#"{"verdict": "PASS", "reasoning": "fine", "score": 1}"#,
            r#"{"verdict": "PASS", "reasoning": "fine"} and more"#,
            r#"Here it is: {"verdict": "PASS", "reasoning": "fine"}"#,
            r#"{"verdict": "FAIL", "reasoning": "no"}{"verdict": "PASS", "reasoning": "yes"}"#,
            r#"{"verdict": "PASS", "reasoning": "fi"#,
            "```json\n{\"verdict\": \"PASS\", \"reasoning\": \"fine\"}",
            "```json\n{\"verdict\": \"PASS\", \"reasoning\": \"a\"}\n```\n```json\n{}\n```",
            "```rust\n{\"verdict\": \"PASS\", \"reasoning\": \"a\"}\n```",
            "```",
            "``````",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&" ".repeat(ANSWER_MAX + 1)).is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn reasoning_is_cut_and_carries_no_secret_and_no_control_character() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let long = "ä".repeat(REASONING_MAX + 1);
        let said = |reasoning: &str| {
            let text = serde_json::json!({ "verdict": "WARN", "reasoning": reasoning }).to_string();
            read(&text).unwrap().1
        };
        assert!(!said(&format!("the token is {token}")).contains(&token));
        assert_eq!(said(&long).chars().count(), REASONING_MAX);
        assert_eq!(said("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\nc");
        // A secret across the cut goes as a whole.
        let across = format!("{} {token}", "x".repeat(REASONING_MAX - 10));
        assert!(!said(&across).contains("ghp_"));
        // What the reader did not expect is quoted without its secrets.
        let refused = read(&format!(r#"{{"verdict": "{token}", "reasoning": "r"}}"#)).unwrap_err();
        assert!(!refused.contains(&token), "{refused}");
    }
}
