//! The look of rustc: what is wrong, where, the lines in question, and what to do.

use crate::{Decision, Diagnostic, Severity, Source, url_path, visible};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use std::ops::Range;

/// How the text is to look.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// Colours.
    pub colour: bool,
    /// How many columns there are.
    pub width: usize,
    /// What a path is linked to on a terminal that can: the URL before the file name, such as `file:///home/me/`.
    pub link: Option<&'a str>,
    /// Whether the lines in question are shown, or only where they are.
    pub lines: bool,
}

impl Default for Look<'_> {
    fn default() -> Self {
        Self { colour: false, width: 120, link: None, lines: true }
    }
}

/// Lines longer than this are shown around the finding only.
const LINE_SHOWN_MAX: usize = 2_000;
/// How much of such a line is shown before and after the finding.
const AROUND: usize = 200;
/// How many lines of one value are shown.
const LINES_SHOWN_MAX: usize = 12;

/// One finding.
pub fn diagnostic(diagnostic: &Diagnostic, source: Source<'_>, look: Look<'_>) -> String {
    let span = clip(diagnostic.span.clone().unwrap_or(0..0), source.text);
    let (start, _) = source.places(&span);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let window = window(&with_near_labels(&span, diagnostic, source.text), source.text);
    let shift = |span: &Range<usize>| {
        let start = span.start.clamp(window.start, window.end) - window.start;
        start..span.end.clamp(window.start, window.end).max(window.start + start) - window.start
    };
    let lines_before = source.text[..window.start].bytes().filter(|byte| *byte == b'\n').count();
    let mut snippet = Snippet::source(&source.text[window.clone()])
        .line_start(lines_before + 1)
        .annotation(AnnotationKind::Primary.span(shift(&span)));
    for label in &diagnostic.labels {
        let inside = label.span.as_ref().filter(|it| window.start <= it.start && it.end <= window.end);
        if let Some(inside) = inside {
            snippet = snippet.annotation(AnnotationKind::Context.span(shift(inside)).label(visible(&label.text)));
        }
    }
    // The mark stands for the path alone.
    let title = level.primary_title(visible(&diagnostic.message).replace(MARK, "?")).id(diagnostic.rule);
    let mut group = match look.lines {
        true => title.element(snippet.path(MARK)),
        false => title.element(Origin::path(MARK)),
    };
    for label in diagnostic.labels.iter().filter(|it| !look.lines || !is_inside(it.span.as_ref(), &window)) {
        let place = label.span.as_ref().map(|span| source.places(span).0);
        let line = place.map(|place| format!(" (line {})", place.line)).unwrap_or_default();
        group = group
            .element(Level::NOTE.message(visible(&format!("{} at {}{line}", label.text, label.pointer)).into_owned()));
    }
    if !diagnostic.help.is_empty() {
        group = group.element(Level::HELP.message(visible(&diagnostic.help)));
    }
    let renderer = if look.colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(look.width).decor_style(DecorStyle::Ascii);
    let rendered = renderer.render(&[group]);
    locate(&rendered, diagnostic, source.name, (start.line, start.column), look)
}

/// The last line for a document: what was decided.
pub fn verdict(decision: &Decision) -> String {
    let details = &decision.details;
    let contract = match (&details.contract, &details.version) {
        (Some(contract), Some(version)) => format!(" ({contract} {version})"),
        (Some(contract), None) => format!(" ({contract})"),
        _ => String::new(),
    };
    let mut counts = Vec::new();
    for (severity, one, many) in [
        (Severity::Error, "error", "errors"),
        (Severity::Warning, "warning", "warnings"),
        (Severity::Note, "note", "notes"),
    ] {
        match decision.count(severity) {
            0 => {}
            1 => counts.push(format!("1 {one}")),
            n => counts.push(format!("{n} {many}")),
        }
    }
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    let said = match decision.code {
        None => format!("allowed: {}{contract}{counts}", details.file),
        Some(code) => format!("refused: {code} {}{contract}{counts}", details.file),
    };
    visible(&said).into_owned()
}

/// Stands for the path while the snippet is laid out, since the renderer cannot add a pointer to it. A letter of no
/// one's alphabet, which the renderer leaves as it is.
const MARK: &str = "\u{F8FF}";

/// Puts the real place and the pointer where the renderer put the mark, which is the first one: the title has none, and
/// lines of the document come after it.
fn locate(
    rendered: &str,
    diagnostic: &Diagnostic,
    name: &str,
    (line, column): (usize, usize),
    look: Look<'_>,
) -> String {
    let mut place = format!("{}:{line}:{column}", visible(name));
    if let Some(url) = look.link.and_then(|link| url(link, name)) {
        place = format!("\u{1b}]8;;{url}\u{1b}\\{place}\u{1b}]8;;\u{1b}\\");
    }
    if !diagnostic.pointer.as_str().is_empty() {
        place.push_str(&format!(" ({})", visible(diagnostic.pointer.as_str())));
    }
    let mut out = String::with_capacity(rendered.len() + place.len());
    let mut placed = false;
    for line in rendered.lines() {
        match line.split_once(MARK).filter(|_| !placed) {
            // What follows the mark is the renderer's own line and column.
            Some((before, _)) => {
                placed = true;
                out.push_str(before);
                if look.colour {
                    out.push_str("\u{1b}[0m");
                }
                out.push_str(&place);
            }
            // The renderer covers the lower controls in lines of the document, and leaves the upper ones.
            None => out.extend(line.chars().map(|letter| if is_upper_control(letter) { '\u{FFFD}' } else { letter })),
        }
        out.push('\n');
    }
    out
}

/// Where a file is to be found by a terminal. What is no file, such as `<stdin>`, is nowhere.
fn url(base: &str, name: &str) -> Option<String> {
    match name.as_bytes().first()? {
        b'<' => None,
        b'/' => Some(format!("file://{}", url_path(name))),
        _ => Some(format!("{base}{}", url_path(name))),
    }
}

fn is_upper_control(letter: char) -> bool {
    matches!(letter, '\u{7F}'..='\u{9F}')
}

/// The finding together with the labels that stand so near that both can be seen at once.
fn with_near_labels(span: &Range<usize>, diagnostic: &Diagnostic, text: &str) -> Range<usize> {
    let mut all = span.clone();
    for label in diagnostic.labels.iter().filter_map(|label| label.span.clone()) {
        let label = clip(label, text);
        let both = all.start.min(label.start)..all.end.max(label.end);
        if both.len() < LINE_SHOWN_MAX && text[both.clone()].matches('\n').count() < LINES_SHOWN_MAX {
            all = both;
        }
    }
    all
}

fn is_inside(span: Option<&Range<usize>>, window: &Range<usize>) -> bool {
    span.is_some_and(|span| window.start <= span.start && span.end <= window.end)
}

fn clip(span: Range<usize>, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.clamp(start, text.len()));
    start..end
}

/// The part of the text that is laid out: the lines of the finding, or its surroundings where lines are
/// very long. Laying out the whole of a large document for each finding would cost its square.
fn window(span: &Range<usize>, text: &str) -> Range<usize> {
    let line_start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let shown_end =
        text[span.clone()].match_indices('\n').nth(LINES_SHOWN_MAX).map_or(span.end, |(at, _)| span.start + at);
    let line_end = text[shown_end..].find('\n').map_or(text.len(), |at| shown_end + at);
    let start = if span.start - line_start > LINE_SHOWN_MAX { span.start - AROUND } else { line_start };
    let end = if line_end - shown_end > LINE_SHOWN_MAX {
        shown_end.min(span.start + LINE_SHOWN_MAX) + AROUND
    } else {
        line_end
    };
    let end = end.min(start + 4 * LINE_SHOWN_MAX).min(text.len());
    text.ceil_char_boundary(start)..text.floor_char_boundary(end).max(text.ceil_char_boundary(start))
}
