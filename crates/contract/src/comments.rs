//! What people wrote beside the data: the comments of YAML, also in the front matter of a Markdown document.

use crate::document::{Document, Form};
use std::ops::Range;

/// Where the comments of a document lie, each from its `#` to the end of its line, in the order of the text.
///
/// The parser could tell, but gives up on a document with many of them. Around the scalars there is nothing but white
/// space, marks and comments, so that looking there is enough.
pub(crate) fn comments(document: &Document<'_>) -> Vec<Range<usize>> {
    let text = document.text();
    let within = match document.form() {
        Form::Yaml => Some(0..text.len()),
        Form::Markdown => crate::front_matter(text),
        Form::Json | Form::JsonLines => None,
    };
    let Some(within) = within.filter(|within| text[within.clone()].contains('#')) else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = within.start;
    for node in 0..document.len() {
        if !document.kind_of(node).is_scalar() {
            continue;
        }
        let span = document.span_of(node);
        let written = &text[span.clone()];
        // The text of a block begins on the line after its mark, and a comment may stand behind that.
        let mark = written.starts_with(['|', '>']).then(|| written.find('\n').unwrap_or(written.len()));
        at = look(text, at..span.start + mark.unwrap_or_default(), &mut found).max(span.end);
    }
    look(text, at..within.end, &mut found);
    found
}

/// Comments with nothing but white space between them, as one: a private key has many lines.
pub(crate) fn passages(document: &Document<'_>) -> Vec<Range<usize>> {
    let text = document.text();
    let mut all = Vec::<Range<usize>>::new();
    for comment in comments(document) {
        match all.last_mut() {
            Some(last) if text[last.end..comment.start].trim().is_empty() => last.end = comment.end,
            _ => all.push(comment),
        }
    }
    all
}

/// Adds the comments that begin in `gap`, and gives where to go on.
fn look(text: &str, gap: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
    let mut at = gap.start;
    while let Some(mark) = text.get(at..gap.end).and_then(|rest| rest.find('#')).map(|mark| at + mark) {
        at = mark + 1;
        if mark == 0 || text[..mark].ends_with([' ', '\t', '\n', '\r', '\u{feff}']) {
            at = text[mark..].find(['\n', '\r']).map_or(text.len(), |end| mark + end);
            found.push(mark..at);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, form: Form) -> Vec<String> {
        let document = crate::parse(text, form, crate::SIZE_MAX).expect("can be read");
        comments(&document).into_iter().map(|range| text[range].to_owned()).collect()
    }

    #[test]
    fn comments_are_found_wherever_they_may_stand() {
        let text = "# head\n---\na: 1 # one # still\nb: # two\n  - x#y # three\n  # four\n  - \"# no\"\n\
                    c: | # five\n  # no\n  text # no\n# six\nd: {e: '#no', # seven\n  f: # eight\n  }\ng: >-\n  folded\n  \
                    # no\n\nh: plain\n  # nine\ni: # ten\n# eleven";
        let words =
            ["head", "one # still", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"];
        let expected: Vec<String> = words.iter().map(|word| format!("# {word}")).collect();
        assert_eq!(texts(text, Form::Yaml), expected);
        assert_eq!(texts(&text.replace('\n', "\r\n"), Form::Yaml), expected);
        assert_eq!(texts("---\na: 1 # é\n---\n# body\n", Form::Markdown), ["# é"]);
        assert_eq!(texts("{\"a\": \"# no\"}", Form::Json), Vec::<String>::new());
        let many: String = (0..1_000).map(|count| format!("# {count}\n")).collect();
        assert_eq!(texts(&format!("{many}a: 1\n{many}"), Form::Yaml).len(), 2_000);
    }
}
