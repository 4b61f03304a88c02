//! `cargo xtask dist`: what is shipped. The binary, and beside it the shell completions and manual pages that it writes
//! about itself.

use crate::house::{build_binary, has_binary, output};
use crate::{Outcome, Verb, no_arguments};
use std::path::Path;
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "dist",
    arguments: "",
    summary: "build what is shipped: binary, completions, manual pages",
    run: verb,
};

/// The shells, and what each wants its completions to be called.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "countersign.bash"),
    ("elvish", "countersign.elv"),
    ("fish", "countersign.fish"),
    ("powershell", "_countersign.ps1"),
    ("zsh", "_countersign"),
];

fn verb(arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    if !has_binary() {
        return Err("there is no crate `countersign` yet, and so nothing to ship".to_owned());
    }
    let binary = build_binary("dist")?;
    let size = std::fs::metadata(&binary).map_err(|error| format!("{}: {error}", binary.display()))?.len();
    println!("{}  {:.1} MiB", binary.display(), size as f64 / 1_048_576.0);
    let folder = binary.parent().unwrap_or(Path::new("."));
    for (shell, name) in COMPLETIONS {
        if let Some(text) = ask(&binary, &["completions", shell]) {
            write(&folder.join("completions").join(name), &text)?;
        }
    }
    for (name, page) in ask(&binary, &["man"]).map(|text| pages(&text)).unwrap_or_default() {
        write(&folder.join("man").join(format!("{name}.1")), &page)?;
    }
    Ok(())
}

/// What the binary answers, if it knows the question.
fn ask(binary: &Path, arguments: &[&str]) -> Option<String> {
    let answer = output(Command::new(binary).args(arguments));
    match answer {
        Ok(text) => Some(String::from_utf8_lossy(&text).into_owned()),
        Err(message) => {
            println!("left out: {message}");
            None
        }
    }
}

fn write(path: &Path, text: &str) -> Outcome {
    let folder = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}

/// The manual pages in one text, by name. A page begins with its title line `.TH`; requests that stand right before
/// that line belong to it.
fn pages(text: &str) -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = Vec::new();
    let mut waiting = String::new();
    for line in text.lines() {
        let line_with_end = format!("{line}\n");
        if let Some(title) = line.strip_prefix(".TH ") {
            let name = title.split_whitespace().next().unwrap_or("countersign").trim_matches('"').to_lowercase();
            pages.push((name, std::mem::take(&mut waiting) + &line_with_end));
        } else if line.starts_with(".ie ") || line.starts_with(".el ") || pages.is_empty() {
            waiting.push_str(&line_with_end);
        } else if let Some((_, page)) = pages.last_mut() {
            page.push_str(&std::mem::take(&mut waiting));
            page.push_str(&line_with_end);
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_pages_that_follow_each_other_are_told_apart() {
        let text = ".ie x\n.el y\n.TH countersign 1\n.SH NAME\n.ie x\n.el y\n.TH countersign-check 1\nb\n";
        let found = pages(text);
        assert_eq!(found[0], ("countersign".to_owned(), ".ie x\n.el y\n.TH countersign 1\n.SH NAME\n".to_owned()));
        assert_eq!(found[1], ("countersign-check".to_owned(), ".ie x\n.el y\n.TH countersign-check 1\nb\n".to_owned()));
    }
}
