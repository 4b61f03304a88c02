//! One rule, one file: whoever knows a rule's id knows its file, and whoever sees the file sees the whole rule.

use super::source::{code, line_of, lines_with};
use super::tree::{folder, name};
use super::{Fault, Tree, tree};
use std::collections::BTreeMap;

/// Files of a `rules/` folder that hold no rule: the list, and what several rules need.
const NOT_RULES: &[&str] = &["mod.rs", "texts.rs"];

pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut ids: BTreeMap<String, &str> = BTreeMap::new();
    for (path, text) in tree.ending(".rs").filter(|(path, _)| is_rule(path)) {
        let code = code(text);
        let starts: Vec<usize> = code.match_indices("rule! {").map(|(at, _)| at).collect();
        let [start] = starts.as_slice() else {
            let message =
                format!("a file in `rules/` declares one rule, this one {}; move what is not a rule out", starts.len());
            faults.push(Fault::new(path, 0, message));
            continue;
        };
        let line = line_of(text, *start);
        let wanted = name(path).trim_end_matches(".rs").replace('_', "-");
        match id(&text[*start..]) {
            Some(id) if id == wanted => {}
            Some(id) => {
                faults.push(Fault::new(path, line, format!("rule `{id}` stands in the file of `{wanted}`; rename one")))
            }
            None => faults.push(Fault::new(path, line, "this rule has no `id: \"…\"`")),
        }
        if let Some(other) = ids.insert(wanted.clone(), path) {
            faults.push(Fault::new(
                path,
                line,
                format!("rule `{wanted}` is already declared in {other}; ids are unique"),
            ));
        }
        faults.extend(unlisted(tree, path, &code[*start..]).map(|message| Fault::new(path, line, message)));
    }
    faults
}

fn is_rule(path: &str) -> bool {
    let in_rules = folder(path).split('/').any(|part| part == "rules");
    path.starts_with("crates/") && in_rules && !NOT_RULES.contains(&name(path)) && !tree::is_test(path)
}

/// The id in a declaration, which the macro wants written as a literal.
fn id(declaration: &str) -> Option<&str> {
    let (_, rest) = declaration.split_once("\n        id: \"").or_else(|| declaration.split_once(" id: \""))?;
    rest.split_once('"').map(|(id, _)| id)
}

/// A rule that is declared and not listed is never checked.
fn unlisted(tree: &Tree, path: &str, declaration: &str) -> Option<String> {
    let list = format!("{}/mod.rs", folder(path));
    let Some(text) = tree.get(&list) else {
        return Some(format!("there is no {list} to list this rule in"));
    };
    let code = code(text);
    let module = name(path).trim_end_matches(".rs");
    let constant = declaration.split_once("static ")?.1.split([':', ' ', '=']).next()?;
    let named = code.contains(&format!("mod {module};"));
    // Most folders have one list; what the reader itself applies may stand in another.
    let mut lists = code.split("static ").skip(1).filter_map(|list| list.split(';').next());
    let listed = lists.any(|list| !lines_with(list, constant).is_empty());
    match (named, listed) {
        (true, true) => None,
        (false, _) => Some(format!("add `mod {module};` to {list}")),
        (true, false) => {
            Some(format!("add `{constant}` to a list in {list}; a rule that is not listed is not checked"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "//! Rules.\nmod a_b;\npub static RULES: &[&R] = &[&a_b::A_B];";
    const RULE: &str = "rule! {\n    /// Says `rule! {`.\n    pub static A_B: T = {\n        id: \"a-b\",\n    }\n}";

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn a_rule_in_its_file_and_its_list_is_as_it_should_be() {
        assert_eq!(faults(&[("crates/d/src/rules/mod.rs", LIST), ("crates/d/src/rules/a_b.rs", RULE)]), [""; 0]);
    }

    #[test]
    fn every_breach_is_found() {
        let at = "crates/d/src/rules/a_b.rs";
        let list = "crates/d/src/rules/mod.rs";
        let two = format!("{RULE}\n{RULE}");
        let other = RULE.replace("a-b", "a-c");
        let cases: &[(&str, &str, &str)] = &[
            (LIST, "fn help() {}", "declares one rule, this one 0"),
            (LIST, &two, "declares one rule, this one 2"),
            (LIST, &other, "rule `a-c` stands in the file of `a-b`"),
            ("//! Rules.", RULE, "add `mod a_b;`"),
            ("mod a_b;\nstatic RULES: &[&R] = &[];", RULE, "add `A_B` to a list"),
        ];
        for (list_text, rule, message) in cases {
            let found = faults(&[(list, list_text), (at, rule)]);
            assert!(found.len() == 1 && found[0].contains(message), "{found:?} should say: {message}");
        }
    }

    #[test]
    fn an_id_is_declared_once_in_all_crates() {
        let files = [
            ("crates/d/src/rules/mod.rs", LIST),
            ("crates/d/src/rules/a_b.rs", RULE),
            ("crates/e/src/x/rules/y/mod.rs", LIST),
            ("crates/e/src/x/rules/y/a_b.rs", RULE),
        ];
        assert_eq!(faults(&files).len(), 1);
    }
}
