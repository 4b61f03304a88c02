//! Where it is set up: in other worktrees, in files with a mark before them, and where git looks elsewhere for hooks.

use super::*;
use std::path::Path;

/// Another worktree of a project.
fn worktree(shop: &Shop) -> (tempfile::TempDir, PathBuf) {
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().canonicalize().unwrap().join("tree");
    shop.git(&["worktree", "add", "--quiet", "-b", "other", tree.to_str().unwrap()]);
    (other, tree)
}

fn done_in(shop: &Shop, folder: &Path, arguments: &[&str]) -> String {
    let answer = shop.house.run_in(folder, arguments, "", &[]);
    assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
    answer.out
}

#[test]
fn in_another_worktree_its_own_settings_are_meant_and_it_is_said() {
    let shop = Shop::idle();
    let (_other, tree) = worktree(&shop);
    let before = files(&shop);
    for (client, file) in [("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")] {
        std::fs::create_dir_all(tree.join(file).parent().unwrap()).unwrap();
        std::fs::write(tree.join(file), "{\"mine\":1}").unwrap();
        let said = done_in(&shop, &tree, &["install", client, "--yes"]);
        let wanted = format!("in the worktree {}, not in {}: set up", tree.display(), shop.root().display());
        assert!(said.contains(&wanted), "{said}");
        assert!(std::fs::read_to_string(tree.join(file)).unwrap().contains("countersign"));
        assert!(!shop.house.path(file).exists(), "the main worktree stays as it is");
        let doctor = |folder: &Path| {
            let out = done_in(&shop, folder, &["doctor"]);
            out.lines().find(|line| line.contains(&format!("{client} hook"))).unwrap().to_owned()
        };
        assert!(doctor(&tree).contains("it blocks"), "{}", doctor(&tree));
        assert!(doctor(&shop.root()).contains("not set up"), "{}", doctor(&shop.root()));
        done_in(&shop, &tree, &["install", client, "--remove", "--yes"]);
        assert_eq!(std::fs::read_to_string(tree.join(file)).unwrap(), "{\"mine\":1}");
    }
    assert_eq!(files(&shop), before);
    // A variable says whose ledger is meant, and nothing of where.
    let root = shop.root();
    let variable = [("COUNTERSIGN_PROJECT", root.to_str().unwrap())];
    let planned = shop.house.run_in(&tree, &["install", "codex", "--dry-run"], "", &variable);
    assert!(planned.out.contains(&format!("in the worktree {}", tree.display())), "{planned:?}");
    // Whoever names the project means its directory.
    done_in(&shop, &tree, &["--project", root.to_str().unwrap(), "install", "codex", "--yes"]);
    assert!(shop.house.path(".codex/hooks.json").exists());
}

#[test]
fn a_mark_before_settings_is_read_and_kept() {
    for (client, file) in [("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")] {
        let shop = Shop::idle();
        shop.house.write(file, format!("\u{feff}{CONFIGURED}"));
        let before = files(&shop);
        done(&shop, &["install", client, "--yes"]);
        let now = shop.house.read(file);
        let plain = now.strip_prefix('\u{feff}').unwrap();
        assert_eq!(serde_json::from_str::<Value>(plain).unwrap()["model"], "opus");
        assert!(done(&shop, &["install", client, "--yes"]).contains("already"));
        assert!(done(&shop, &["doctor"]).lines().any(|line| line.contains(client) && line.contains("it blocks")));
        done(&shop, &["install", client, "--remove", "--yes"]);
        assert_eq!(files(&shop), before);
    }
}

#[test]
fn hooks_that_git_has_for_all_repositories_are_not_touched_and_what_they_pass_over_is_told() {
    let shop = Shop::idle();
    let user = tempfile::tempdir().unwrap();
    let home = [("HOME", user.path().to_str().unwrap())];
    let here = shop.root();
    let run = |arguments: &[&str]| shop.house.run_in(&here, arguments, "", &home);
    assert_eq!(run(&["install", "git", "--yes"]).code, 0);
    let all = user.path().join("hooks");
    std::fs::create_dir(&all).unwrap();
    std::fs::write(user.path().join(".gitconfig"), format!("[core]\n\thooksPath = {}\n", all.display())).unwrap();
    let doctor = run(&["doctor"]);
    let line = doctor.out.lines().find(|line| line.contains("git hook")).unwrap();
    assert!(doctor.code == 1 && line.starts_with("bad") && line.contains("core.hooksPath"), "{doctor:?}");
    let refused = run(&["install", "git", "--yes"]);
    assert!(refused.code == 3 && refused.err.contains("git config core.hooksPath"), "{refused:?}");
    assert_eq!(std::fs::read_dir(&all).unwrap().count(), 0, "nothing is written for all");
    assert!(line.contains("countersign install git --remove"), "{line}");
    assert_eq!(run(&["install", "git", "--remove", "--yes"]).code, 0);
    assert!(!shop.house.path(".git/hooks/pre-commit").exists());
    // A folder of this repository's own is where they belong, whoever names it.
    std::fs::write(user.path().join(".gitconfig"), "[core]\n\thooksPath = .githooks\n").unwrap();
    assert_eq!(run(&["install", "git", "--yes"]).code, 0);
    assert!(shop.house.path(".githooks/pre-commit").exists());
    shop.git(&["config", "core.hooksPath", ".git/hooks"]);
    assert_eq!(run(&["install", "git", "--yes"]).code, 0);
    assert!(run(&["doctor"]).out.lines().any(|line| line.contains("git hook") && line.contains("it blocks")));
}

#[test]
fn a_project_above_a_repository_is_set_up_in_its_worktree() {
    let shop = Shop::unmanaged();
    shop.git(&["clone", "--quiet", ".", "all/repo"]);
    let all = shop.root().join("all");
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().canonicalize().unwrap().join("tree");
    shop.git(&["-C", "all/repo", "worktree", "add", "--quiet", "-b", "other", tree.to_str().unwrap()]);
    done_in(&shop, &all, &["init", "--name", "all"]);
    let said = done_in(&shop, &tree, &["install", "claude-code", "--yes"]);
    assert!(said.contains(&format!("in the worktree {}", tree.display())), "{said}");
    assert!(tree.join(".claude/settings.json").exists() && !all.join(".claude").exists());
    assert!(
        done_in(&shop, &tree, &["doctor"]).lines().any(|it| it.contains("claude-code") && it.contains("it blocks"))
    );
}
