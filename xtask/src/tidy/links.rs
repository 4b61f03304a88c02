//! Links between the documents lead somewhere. Links to the web are not followed: the answer would change without us.

use super::tree::folder;
use super::{Fault, Tree, markdown};

pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in markdown::documents(tree) {
        for (line, target) in markdown::links(text) {
            if target.contains(':') {
                continue;
            }
            faults.extend(broken(tree, path, &target).map(|message| Fault::new(path, line, message)));
        }
    }
    faults
}

fn broken(tree: &Tree, path: &str, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if file.is_empty() { Some(path.to_owned()) } else { resolve(folder(path), file) };
    let Some(file) = file.filter(|file| tree.holds(file)) else {
        return Some(format!("link to `{target}`, which is not there; correct it"));
    };
    let heads = tree.get(&file).filter(|_| file.ends_with(".md")).map(markdown::anchors);
    if anchor.is_empty() || heads.is_none_or(|heads| heads.iter().any(|head| head == anchor)) {
        return None;
    }
    Some(format!("link to `{target}`: {file} has no such heading; correct it"))
}

/// A path as seen from a folder; none if it leads out of the workspace.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(link: &str) -> usize {
        let text = format!("see [it]({link})\n");
        let tree =
            Tree::of(&[("docs/a.md", &text), ("docs/b.md", "# Some Head\n"), ("README.md", ""), ("src/c.rs", "")]);
        check(&tree).len()
    }

    #[test]
    fn a_link_to_nothing_is_found() {
        for link in ["c.md", "../docs/c.md", "../../README.md", "b.md#other", "#other"] {
            assert_eq!(faults(link), 1, "{link}");
        }
    }

    #[test]
    fn a_link_to_something_passes() {
        for link in ["b.md", "b.md#some-head", "../README.md", "../src", "../src/c.rs#L1", "https://example.com/x"] {
            assert_eq!(faults(link), 0, "{link}");
        }
    }
}
