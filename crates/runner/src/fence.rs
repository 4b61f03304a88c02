//! An answer inside a Markdown code fence, which models like to put around JSON they were asked for.

/// What stands inside a code fence, if the whole text is one, of JSON or of nothing named. Otherwise the text as it is: words
/// around a fence, or a second one, may say anything, also that the first does not count.
pub(crate) fn without(text: &str) -> &str {
    let inside = || {
        let rest = text.trim().strip_prefix("```")?.strip_suffix("```")?;
        let (first, rest) = rest.split_once('\n')?;
        let is_one = !rest.lines().any(|line| line.trim_start().starts_with("```"));
        (is_one && matches!(first.trim(), "" | "json" | "JSON")).then(|| rest.trim())
    };
    inside().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fence_that_is_all_of_a_text_is_taken_off_and_nothing_else() {
        let bare = r#"{"a": "```"}"#;
        for text in [
            format!("```json\n{bare}\n```"),
            format!("```\n{bare}\n```\n"),
            format!("\n ```JSON\r\n{bare}\r\n```\n\n"),
            format!("```json  \n\n{bare}```"),
        ] {
            assert_eq!(without(&text), bare, "{text}");
        }
        for text in [
            bare.to_owned(),
            format!("\n{bare}\n"),
            format!("```json\n{bare}"),
            format!("```json {bare} ```"),
            format!("Here it is:\n```json\n{bare}\n```"),
            format!("```json\n{bare}\n```\nThat is all."),
            format!("```json\n{bare}\n```\n```json\n{bare}\n```"),
            format!("```yaml\n{bare}\n```"),
            "---\na: b\n---\n```\ncode\n```".to_owned(),
            "```".to_owned(),
            "``````".to_owned(),
        ] {
            assert_eq!(without(&text), text);
        }
    }
}
