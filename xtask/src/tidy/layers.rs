//! Who may use whom, along the way of a payload. A new arrow is a change to this table, and so is seen in review.

use super::{Fault, Tree};

/// The crates, and which of ours each may use. A crate that is not listed may not exist.
const MAY_USE: &[(&str, &[&str])] = &[
    ("diagnostic", &[]),
    ("contract", &["diagnostic"]),
    ("tokens", &[]),
    ("domain", &["contract", "tokens"]),
    ("ledger", &[]),
    ("engine", &["contract", "diagnostic", "domain", "ledger"]),
    ("runner", &["contract", "domain", "engine"]),
    ("countersign", &["diagnostic", "contract", "tokens", "domain", "ledger", "engine", "runner"]),
    ("xtask", &[]),
];

const PREFIX: &str = "countersign-";

pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.ending("Cargo.toml") {
        let name = match path.split('/').collect::<Vec<_>>().as_slice() {
            ["crates", name, "Cargo.toml"] => *name,
            ["xtask", "Cargo.toml"] => "xtask",
            // The root has no code, and the fuzz targets stand outside to look in.
            ["Cargo.toml"] | ["fuzz", "Cargo.toml"] => continue,
            _ => {
                faults.push(Fault::new(path, 0, "a crate stands where none is expected; crates live in `crates/`"));
                continue;
            }
        };
        let Some((_, may_use)) = MAY_USE.iter().find(|(listed, _)| *listed == name) else {
            let message = format!("crate `{name}` is not listed in MAY_USE; say there what it may use");
            faults.push(Fault::new(path, 0, message));
            continue;
        };
        match text.parse::<toml::Table>() {
            Err(error) => {
                faults.push(Fault::new(path, 0, format!("this manifest cannot be read: {}", error.message())))
            }
            Ok(manifest) => {
                let used = uses(&manifest).into_iter().filter(|used| used != name && !may_use.contains(&used.as_str()));
                faults.extend(used.map(|used| {
                    let message = format!("`{name}` must not use `{used}`; turn the arrow round, or change MAY_USE");
                    Fault::new(path, line_naming(text, &used), message)
                }));
            }
        }
    }
    faults
}

/// Which crates of ours a manifest names, in any of its lists of dependencies.
fn uses(manifest: &toml::Table) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in manifest {
        let Some(table) = value.as_table() else { continue };
        if key.ends_with("dependencies") {
            found.extend(table.iter().filter_map(|(name, value)| ours(name, value)));
        } else {
            // `[target.'cfg(unix)'.dependencies]` lies deeper.
            found.extend(uses(table));
        }
    }
    found
}

/// The crate of ours that a dependency means, under whatever name it goes.
fn ours(name: &str, value: &toml::Value) -> Option<String> {
    let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(name);
    if package == "countersign" || package == "xtask" {
        return Some(package.to_owned());
    }
    package.strip_prefix(PREFIX).map(str::to_owned)
}

fn line_naming(text: &str, used: &str) -> usize {
    text.lines().position(|line| line.contains(used)).map_or(0, |line| line + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn an_arrow_against_the_flow_is_found_in_every_list_and_under_every_name() {
        for text in [
            "[dependencies]\ncountersign-domain.workspace = true",
            "[dev-dependencies]\ncountersign-domain = { path = \"../domain\" }",
            "[build-dependencies]\nd = { package = \"countersign-domain\", path = \"../domain\" }",
            "[target.'cfg(unix)'.dependencies]\ncountersign-domain.workspace = true",
        ] {
            let message = "crates/contract/Cargo.toml:2: `contract` must not use `domain`; turn the arrow round, or \
                           change MAY_USE";
            assert_eq!(faults("crates/contract/Cargo.toml", text), [message]);
        }
        assert!(faults("crates/contract/Cargo.toml", "[dependencies]\ncountersign-diagnostic = \"1\"").is_empty());
    }

    #[test]
    fn a_crate_that_is_not_listed_may_not_exist() {
        assert_eq!(faults("crates/shed/Cargo.toml", "").len(), 1);
        assert_eq!(faults("shed/Cargo.toml", "").len(), 1);
    }
}
