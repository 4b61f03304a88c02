//! The two things that are wanted of Markdown: its links, and its fenced blocks.

use super::tree::Tree;

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'t> {
    /// What stands after the fence.
    pub(crate) info: &'t str,
    /// The line of its first line, from 1.
    pub(crate) line: usize,
    /// Its lines.
    pub(crate) lines: Vec<&'t str>,
}

/// The documents that are written for people. Markdown that is a payload, or belongs to a test, is not one.
pub(crate) fn documents(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.ending(".md").filter(|(path, _)| !path.split('/').any(|part| matches!(part, "examples" | "tests" | "fuzz")))
}

/// The fenced blocks of a text.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    split(text).1
}

/// The lines outside of fenced blocks, each with its number from 1.
pub(crate) fn prose(text: &str) -> Vec<(usize, &str)> {
    split(text).0
}

fn split(text: &str) -> (Vec<(usize, &str)>, Vec<Block<'_>>) {
    let (mut prose, mut blocks) = (Vec::new(), Vec::new());
    let mut open: Option<(&str, Block<'_>)> = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let marks = start.len() - start.trim_start_matches('`').len();
        match open.take() {
            None if marks >= 3 => {
                let info = start[marks..].trim();
                open = Some((&start[..marks], Block { info, line: index + 2, lines: Vec::new() }));
            }
            None => prose.push((index + 1, line)),
            Some((fence, block)) if line.trim() == fence => blocks.push(block),
            Some((fence, mut block)) => {
                block.lines.push(line);
                open = Some((fence, block));
            }
        }
    }
    (prose, blocks)
}

/// Where the links of a text lead, each with its line from 1.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        // What stands between backticks is code, and brackets in it are not links.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        let inline = plain.match_indices("](").filter_map(|(at, _)| plain[at + 2..].split_once(')')).map(|it| it.0);
        let definition = plain.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|it| it.1);
        let targets = inline.chain(definition).filter_map(|target| target.split_whitespace().next());
        links.extend(targets.map(|target| (number, target.trim_matches(['<', '>']).to_owned())));
    }
    links
}

/// The anchors that the headings of a text make, as GitHub makes them.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).into_iter().filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len() && title.starts_with(' ')).then(|| title.trim())
    });
    let keep = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    headings.map(|title| title.to_lowercase().chars().filter(keep).collect::<String>().replace(' ', "-")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_links_and_anchors_are_told_apart() {
        let text = "# One `two`, three\n[a](b.md) `[c](d)`\n[e]: f.md\n````console\n$ x\n```\n[g](h.md)\n````\n";
        assert_eq!(blocks(text), [Block { info: "console", line: 5, lines: vec!["$ x", "```", "[g](h.md)"] }]);
        assert_eq!(links(text), [(2, "b.md".to_owned()), (3, "f.md".to_owned())]);
        assert_eq!(anchors(text), ["one-two-three"]);
    }
}
