//! Setting hooks up and taking them out, in fresh repositories and in configured ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

#[path = "../house/mod.rs"]
mod house;
mod places;
#[path = "../shop/mod.rs"]
mod shop;

use serde_json::{Value, json};
use shop::Shop;
use std::path::PathBuf;

const CONFIGURED: &str = "{\n    \"model\": \"opus\",\n    \"zzz\": 1,\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./mine.sh\"}]}\n        ],\n        \"Notification\": []\n    },\n    \"aaa\": {\"x\": [1,2 , 3]}\n}";

/// Every file of the project that an installation could touch.
fn files(shop: &Shop) -> Vec<(PathBuf, Vec<u8>)> {
    let ours = |path: &PathBuf| {
        let text = path.strip_prefix(shop.house.path("")).unwrap().to_string_lossy().into_owned();
        let git = text.starts_with(".git/") && !text.starts_with(".git/hooks/pre-");
        !git && !text.starts_with(".countersign/ledger") && !text.starts_with(".home")
    };
    shop.house.all().into_iter().filter(|(path, _)| ours(path)).collect()
}

fn done(shop: &Shop, arguments: &[&str]) -> String {
    let answer = shop.house.run(arguments);
    assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
    answer.out
}

fn settings(shop: &Shop, name: &str) -> Value {
    serde_json::from_str(&shop.house.read(name)).unwrap()
}

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_countersign")).canonicalize().unwrap()
}

#[test]
fn in_a_fresh_repository_everything_is_made_and_taken_out_again() {
    for client in ["claude-code", "codex", "git"] {
        let shop = Shop::idle();
        let before = files(&shop);
        let shown = done(&shop, &["install", client, "--dry-run"]);
        assert!(shown.contains("+++") && shown.contains("hook"), "{shown}");
        assert_eq!(files(&shop), before, "a dry run changes nothing");
        let asked = shop.house.run(&["install", client]);
        assert_eq!((asked.code, files(&shop) == before), (1, true), "nobody was asked: {asked:?}");
        done(&shop, &["install", client, "--yes"]);
        let once = files(&shop);
        assert_ne!(once, before);
        assert!(done(&shop, &["install", client, "--yes"]).contains("already"));
        assert_eq!(files(&shop), once, "a second time changes nothing");
        done(&shop, &["install", client, "--remove", "--yes"]);
        assert_eq!(files(&shop), before, "{client}: everything is as it was");
        assert!(done(&shop, &["install", client, "--remove", "--yes"]).contains("nothing"));
    }
}

#[test]
fn what_was_configured_stays_in_its_order_and_comes_back_to_the_byte() {
    let cases = [
        ("claude-code", ".claude/settings.json", CONFIGURED),
        ("claude-code", ".claude/settings.json", "{\"hooks\": {}}"),
        ("claude-code", ".mcp.json", "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}, \"k\": 1}\n"),
        ("codex", ".codex/hooks.json", CONFIGURED),
        ("codex", ".codex/hooks.json", "{}"),
    ];
    for (client, name, text) in cases {
        let shop = Shop::idle();
        shop.house.write(name, text);
        let before = files(&shop);
        done(&shop, &["install", client, "--yes"]);
        let after = settings(&shop, name);
        let mut kept: Value = serde_json::from_str(text).unwrap();
        for (key, value) in
            kept.as_object_mut().unwrap().iter().filter(|(key, _)| !["hooks", "mcpServers"].contains(&key.as_str()))
        {
            assert_eq!(&after[key], value, "{name}");
        }
        if text == CONFIGURED {
            let keys: Vec<&String> = after.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["model", "zzz", "hooks", "aaa"]);
            assert_eq!(after["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "./mine.sh");
            assert_eq!(after["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
            assert!(shop.house.read(name).contains("\n    \"model\""), "the indentation is the file's");
        }
        done(&shop, &["install", client, "--remove", "--yes"]);
        assert_eq!(files(&shop), before, "{client} {name}");
    }
}

#[test]
fn what_was_changed_in_between_is_kept_when_hooks_are_taken_out() {
    let shop = Shop::idle();
    shop.house.write(".claude/settings.json", CONFIGURED);
    done(&shop, &["install", "claude-code", "--yes"]);
    let mut changed = settings(&shop, ".claude/settings.json");
    changed["new"] = json!(true);
    shop.house.write(".claude/settings.json", changed.to_string());
    done(&shop, &["install", "claude-code", "--remove", "--yes"]);
    let mut expected: Value = serde_json::from_str(CONFIGURED).unwrap();
    expected["new"] = json!(true);
    assert_eq!(settings(&shop, ".claude/settings.json"), expected);
    assert!(!shop.house.path(".mcp.json").exists());
}

#[test]
fn each_client_is_told_what_its_documentation_asks_for() {
    let shop = Shop::idle();
    done(&shop, &["install", "claude-code", "--yes"]);
    done(&shop, &["install", "codex", "--yes"]);
    for (name, client, writers) in [
        (".claude/settings.json", "claude-code", "^(Write|Edit|MultiEdit|NotebookEdit|mcp__countersign__.*)$"),
        (".codex/hooks.json", "codex", "apply_patch|Edit|Write"),
    ] {
        let hooks = &settings(&shop, name)["hooks"];
        assert_eq!(hooks["PreToolUse"][0]["matcher"], writers);
        let shells: Vec<&str> = hooks["PostToolUse"][0]["matcher"].as_str().unwrap().split('|').collect();
        assert!(["Bash", "PowerShell", "mcp__.*"].iter().all(|it| shells.contains(it)), "{shells:?}");
        // A command that fails has an event of its own in one of them.
        let failed = if client == "codex" { json!(null) } else { hooks["PostToolUse"].clone() };
        assert_eq!(hooks["PostToolUseFailure"], failed);
        for event in ["PreToolUse", "PostToolUse", "SessionStart", "SubagentStart", "Stop", "SubagentStop"] {
            let handler = &hooks[event][0]["hooks"][0];
            assert_eq!((&handler["type"], &handler["timeout"]), (&json!("command"), &json!(10)), "{event}");
            let command = handler["command"].as_str().unwrap();
            assert!(command.ends_with(&format!("countersign hook {client}")) && command.starts_with('/'), "{command}");
        }
    }
    let server = &settings(&shop, ".mcp.json")["mcpServers"]["countersign"];
    assert_eq!(server["args"], json!(["mcp", "--client", "claude-code"]));
}

#[test]
fn a_program_that_moved_is_replaced_where_it_stands() {
    let shop = Shop::idle();
    done(&shop, &["install", "claude-code", "--yes"]);
    let text = shop.house.read(".claude/settings.json");
    let moved = text.replace(program().to_str().unwrap(), "/old/place/countersign");
    let moved = moved.replace(env!("CARGO_BIN_EXE_countersign"), "/old/place/countersign");
    assert_ne!(moved, text);
    shop.house.write(".claude/settings.json", &moved);
    let answer = shop.house.run(&["doctor"]);
    assert!(answer.out.contains("another program"), "{answer:?}");
    done(&shop, &["install", "claude-code", "--yes"]);
    assert_eq!(shop.house.read(".claude/settings.json"), text);
}

#[test]
fn settings_that_are_not_right_are_refused_with_the_place_and_not_touched() {
    let cases = [
        ("claude-code", ".claude/settings.json", "{\n  \"a\": 1,\n  // comment\n}", "3:3"),
        ("claude-code", ".claude/settings.json", "{\"a\": 1, \"a\": 2}", "1:"),
        ("claude-code", ".claude/settings.json", "[]", "no JSON object"),
        ("claude-code", ".claude/settings.json", "{\"hooks\": []}", "`/hooks`"),
        ("claude-code", ".claude/settings.json", "{\"hooks\": {\"Stop\": {}}}", "`/hooks/Stop`"),
        ("claude-code", ".mcp.json", "{\"mcpServers\": {\"countersign\": {\"command\": \"other\"}}}", "another server"),
        ("claude-code", ".mcp.json", "{\"mcpServers\": 1}", "`/mcpServers`"),
        ("codex", ".codex/hooks.json", "{\"hooks\": ", ".codex/hooks.json:1:"),
    ];
    for (client, name, text, place) in cases {
        let shop = Shop::idle();
        shop.house.write(name, text);
        let before = files(&shop);
        let answer = shop.house.run(&["install", client, "--yes"]);
        assert_eq!(answer.code, 3, "{text}: {answer:?}");
        assert!(answer.err.contains(name) && answer.err.contains(place), "{text}: {}", answer.err);
        assert_eq!(files(&shop), before, "nothing was touched: {text}");
    }
    let shop = Shop::unmanaged();
    assert_eq!(shop.house.run(&["install", "claude-code", "--yes"]).code, 3);
}

#[test]
fn doctor_tries_whether_a_hook_blocks() {
    let shop = Shop::idle();
    let said = |what: &str| {
        let out = shop.house.run(&["doctor"]).out;
        out.lines().find(|line| line.contains(what)).unwrap().to_owned()
    };
    assert!(said("claude-code hook").starts_with("ok") && said("claude-code hook").contains("not set up"));
    for client in ["claude-code", "codex", "git"] {
        done(&shop, &["install", client, "--yes"]);
        let line = said(&format!("{client} hook"));
        assert!(line.starts_with("ok") && line.contains("it blocks"), "{line}");
    }
    let text = shop.house.read(".claude/settings.json");
    let off = text.replacen('{', "{\"disableAllHooks\": true,", 1);
    shop.house.write(".claude/settings.json", off);
    assert!(said("claude-code hook").starts_with("bad"));
    let matched = |matcher: &str| {
        let mut changed: Value = serde_json::from_str(&text).unwrap();
        changed["hooks"]["PreToolUse"][0]["matcher"] = json!(matcher);
        shop.house.write(".claude/settings.json", changed.to_string());
        said("claude-code hook")
    };
    for matcher in ["", "*", ".*", "Edit|Write", "^(Write|Edit)$", "Write, Edit"] {
        assert!(matched(matcher).starts_with("ok"), "{matcher}");
    }
    for matcher in ["Write", "NotebookEdit", "Bash", "Write|Edited", "mcp__.*", "Write,Edit|mcp__.*"] {
        let line = matched(matcher);
        assert!(line.starts_with("bad") && line.contains("it is not run for"), "{matcher}: {line}");
    }
    shop.house.write(".claude/settings.json", &text).write(".claude/settings.local.json", "{}");
    assert!(said("claude-code hook").starts_with("ok"));
    shop.house.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    assert!(said("claude-code hook").contains("`disableAllHooks`"));
    // What the user has set for all projects holds, unless this project says otherwise.
    shop.house
        .write(".claude/settings.local.json", "{}")
        .write(".home/claude/settings.json", "{\"disableAllHooks\": true}");
    assert!(said("claude-code hook").contains("`disableAllHooks`"));
    shop.house.write(".claude/settings.local.json", "{\"disableAllHooks\": false}");
    assert!(said("claude-code hook").starts_with("ok"));
    shop.house.write(".home/claude/settings.json", "{");
    assert!(said("claude-code hook").contains("cannot be read"));
    // A server that does not know the sessions by the names of their hooks is found, and mended.
    shop.house.write(".home/claude/settings.json", "{}");
    let servers = shop.house.read(".mcp.json");
    let mut nameless: Value = serde_json::from_str(&servers).unwrap();
    nameless["mcpServers"]["countersign"]["args"] = json!(["mcp"]);
    shop.house.write(".mcp.json", nameless.to_string());
    assert!(said("claude-code hook").contains("`--client`"));
    done(&shop, &["install", "claude-code", "--yes"]);
    assert!(said("claude-code hook").starts_with("ok"));
    assert_eq!(settings(&shop, ".mcp.json"), serde_json::from_str::<Value>(&servers).unwrap());
    // Hooks that stand there are found as well.
    shop.house.write(".home/claude/settings.json", &text).write(".claude/settings.json", "{}");
    assert!(said("claude-code hook").contains("it blocks"));
    let codex = shop.house.read(".codex/hooks.json");
    shop.house.write(".home/codex/hooks.json", &codex).write(".codex/hooks.json", "{}");
    assert!(said("codex hook").contains("it blocks"));
    shop.house.write(".home/codex/hooks.json", "{}");
    assert!(said("codex hook").contains("not set up"));
    for name in [".git/hooks/pre-commit", ".git/hooks/pre-merge-commit"] {
        let hook = shop.house.read(name);
        shop.house.write(name, hook.replacen("\n", "\nexit 0\n", 1));
        assert!(said("git hook").starts_with("bad"), "what is never reached does not block");
        std::fs::remove_file(shop.house.path(name)).unwrap();
        assert!(said("git hook").contains("is missing"), "{name}");
        done(&shop, &["install", "git", "--yes"]);
        assert!(said("git hook").starts_with("ok"));
    }
    shop.house.write(".codex/hooks.json", "{");
    assert!(said("codex hook").starts_with("bad"));
}

#[test]
fn a_commit_outside_of_what_the_committer_holds_is_refused() {
    let shop = Shop::open();
    done(&shop, &["install", "git", "--yes"]);
    shop.ask("worker-1", "task.claim", json!({ "task_id": "T-1" }));
    let worker = [("COUNTERSIGN_ACTOR", "worker-1")];
    shop.house.write("src/a/one.rs", "own");
    let (code, out, err) = shop.try_git(&["commit", "-am", "own"], &worker);
    assert_eq!(code, 0, "{out}{err}");
    shop.house.write("src/a/one.rs", "again").write("docs/c.md", "stray");
    for arguments in [["commit", "-am", "stray"], ["commit", "docs/c.md", "-mstray"]] {
        let (code, _, err) = shop.try_git(&arguments, &worker);
        assert!(code != 0 && err.contains("SCOPE_VIOLATION: `docs/c.md`"), "{err}");
    }
    // Only what is committed counts, not what lies about.
    let (code, _, err) = shop.try_git(&["commit", "src/a/one.rs", "-mown"], &worker);
    assert_eq!(code, 0, "{err}");
    // Without a name it is the user, as for every verb, whatever git calls them.
    let bob = [("USER", "bob")];
    let (code, _, err) = shop.try_git(&["commit", "-am", "stray"], &bob);
    assert!(code != 0 && err.contains("user:bob"), "{err}");
    let claimed = shop.house.run_with(&["task", "claim", "T-2"], "", &bob);
    assert_eq!(claimed.code, 0, "{claimed:?}");
    shop.house.write("src/b/two.rs", "own");
    let (code, _, err) = shop.try_git(&["commit", "src/b/two.rs", "-mown"], &bob);
    assert_eq!(code, 0, "{err}");
    done(&shop, &["install", "git", "--remove", "--yes"]);
    assert_eq!(shop.try_git(&["commit", "-am", "free"], &worker).0, 0);
}

#[test]
fn a_merge_is_a_commit_as_well() {
    let shop = Shop::open();
    let base = shop.git(&["rev-parse", "HEAD"]);
    for (branch, path) in [("inside", "src/a/new.rs"), ("outside", "docs/new.md")] {
        shop.git(&["checkout", "--quiet", "-b", branch, &base]);
        shop.house.write(path, "new");
        shop.commit();
    }
    shop.git(&["checkout", "--quiet", "main"]);
    done(&shop, &["install", "git", "--yes"]);
    shop.ask("worker-1", "task.claim", json!({ "task_id": "T-1" }));
    let worker = [("COUNTERSIGN_ACTOR", "worker-1")];
    let merge = |branch: &str| shop.try_git(&["merge", "--no-ff", "--no-edit", branch], &worker);
    let (code, out, err) = merge("inside");
    assert_eq!(code, 0, "{out}{err}");
    let before = shop.git(&["rev-parse", "HEAD"]);
    let (code, _, err) = merge("outside");
    assert!(code != 0 && err.contains("SCOPE_VIOLATION: `docs/new.md`"), "{err}");
    assert_eq!(shop.git(&["rev-parse", "HEAD"]), before, "nothing was committed");
    shop.git(&["merge", "--abort"]);
    done(&shop, &["install", "git", "--remove", "--yes"]);
    assert_eq!(merge("outside").0, 0);
}

#[test]
fn without_a_run_anything_may_be_committed() {
    let shop = Shop::idle();
    done(&shop, &["install", "git", "--yes"]);
    shop.house.write("docs/c.md", "x").write(".countersign/config.toml", "# settings\n");
    let (code, out, err) = shop.try_git(&["commit", "-am", "free"], &[]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(!out.contains("{}") && !err.contains("{}"), "{out}{err}");
}

#[cfg(unix)]
#[test]
fn a_hook_that_was_there_still_runs_and_comes_back() {
    use std::os::unix::fs::PermissionsExt;
    for path in [".git/hooks/pre-commit", "tools/hooks/pre-commit", ".git/hooks/pre-merge-commit"] {
        let shop = Shop::idle();
        if path.starts_with("tools") {
            shop.git(&["config", "core.hooksPath", "tools/hooks"]);
        }
        shop.house.write(path, "#!/bin/sh\ntouch ran\nexit 3\n");
        std::fs::set_permissions(shop.house.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
        let before = files(&shop);
        done(&shop, &["install", "git", "--yes"]);
        done(&shop, &["install", "git", "--yes"]);
        if path.ends_with("pre-merge-commit") {
            shop.git(&["branch", "other"]);
            shop.house.write("docs/new.md", "x");
            shop.commit();
            shop.git(&["checkout", "--quiet", "other"]);
            assert_ne!(shop.try_git(&["merge", "--no-ff", "--no-edit", "main"], &[]).0, 0, "the other hook refuses");
            shop.git(&["merge", "--abort"]);
        } else {
            shop.house.write("docs/c.md", "x");
            assert_ne!(shop.try_git(&["commit", "-am", "x"], &[]).0, 0, "the other hook refuses");
        }
        assert!(shop.house.path("ran").exists());
        std::fs::remove_file(shop.house.path("ran")).unwrap();
        shop.house.write("docs/c.md", "docs/c.md");
        done(&shop, &["install", "git", "--remove", "--yes"]);
        assert_eq!(files(&shop), before);
    }
}

/// A repository with a project in each of these folders, each with a run that is open, and the hooks of git set up.
/// A hook as husky makes them: it asks by its own name which hook it is.
#[cfg(unix)]
const DISPATCHER: &str = "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n";

/// A repository with hooks as husky sets them up.
#[cfg(unix)]
fn with_dispatcher() -> Shop {
    let shop = Shop::idle();
    shop.git(&["config", "core.hooksPath", ".husky/_"]);
    let by_name =
        "n=$(basename \"$0\")\ns=$(dirname \"$(dirname \"$0\")\")/$n\n[ -f \"$s\" ] || exit 0\nsh -e \"$s\" \"$@\"\n";
    shop.house.write(".husky/_/h", by_name).write(".husky/pre-commit", "echo \"$#\" > ran\nexit 3\n");
    put_hook(&shop, ".husky/_/pre-commit", DISPATCHER);
    shop
}

#[cfg(unix)]
fn put_hook(shop: &Shop, path: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    shop.house.write(path, text);
    std::fs::set_permissions(shop.house.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_hook_that_was_there_still_knows_which_it_is() {
    let shop = with_dispatcher();
    done(&shop, &["install", "git", "--yes"]);
    shop.house.write("docs/c.md", "x");
    assert_ne!(shop.try_git(&["commit", "-am", "x"], &[]).0, 0, "the other hook refuses");
    assert_eq!(shop.house.read("ran").trim(), "0");
    // However it is written: with what its first line asks for, and without a first line that says what reads it.
    let asks = "[ \"$(basename \"$0\")\" = pre-commit ] || exit 0\n";
    for (text, code) in [
        (format!("#!/bin/sh -e\n{asks}false\n:\n"), 1),
        (format!("#!/bin/sh\n{asks}false\n:\n"), 0),
        (format!("#! /bin/bash\n{asks}[[ x == x ]] && exit 1\n"), 1),
        (format!("{asks}exit 1\n"), 1),
        ("#!/bin/bash\n[[ \"${BASH_SOURCE[0]}\" == \"$0\" ]] && exit 1\nexit 0\n".to_owned(), 1),
        ("#!/bin/sh -\nexit 1\n".to_owned(), 1),
        ("#!/bin/cat\n".to_owned(), 0),
        // One that starts itself anew does that once.
        ("#!/bin/sh\n[ -n \"$BASH_VERSION\" ] || exec bash \"$0\" \"$@\"\nexit 1\n".to_owned(), 1),
    ] {
        put_hook(&shop, ".husky/_/pre-commit.before-countersign", &text);
        let (found, out, err) = shop.try_git(&["commit", "--allow-empty", "-m", "x"], &[]);
        assert_eq!(found, code, "{text}: {out}{err}");
    }
}

#[cfg(unix)]
#[test]
fn a_hook_that_was_written_over_can_be_put_in_and_taken_out_again() {
    let shop = with_dispatcher();
    let before = files(&shop);
    done(&shop, &["install", "git", "--yes"]);
    let once = files(&shop);
    put_hook(&shop, ".husky/_/pre-commit", DISPATCHER);
    done(&shop, &["install", "git", "--yes"]);
    assert_eq!(files(&shop), once);
    std::fs::remove_file(shop.house.path(".husky/_/pre-merge-commit")).unwrap();
    put_hook(&shop, ".husky/_/pre-commit", DISPATCHER);
    done(&shop, &["install", "git", "--remove", "--yes"]);
    assert_eq!(files(&shop), before);
    // What is another than the one that was kept takes its place, and nothing is lost.
    done(&shop, &["install", "git", "--yes"]);
    put_hook(&shop, ".husky/_/pre-commit", "#!/bin/sh\nexit 5\n");
    done(&shop, &["install", "git", "--yes"]);
    assert_eq!(shop.house.read(".husky/_/pre-commit.before-countersign.1"), DISPATCHER);
    done(&shop, &["install", "git", "--remove", "--yes"]);
    assert_eq!(shop.house.read(".husky/_/pre-commit"), "#!/bin/sh\nexit 5\n");
}

fn below(folders: &[&str]) -> Shop {
    let shop = Shop::unmanaged();
    for folder in folders {
        shop.house.write(&format!("{folder}/lib/a.rs"), "x").write(&format!("{folder}/docs/b.md"), "x");
        done(&shop, &["init", folder, "--name", "below"]);
        in_folder(&shop, folder, &["install", "git", "--yes"]);
        in_folder(&shop, folder, &["run", "open", "--objective", "o"]);
        in_folder(&shop, folder, &["task", "add", "T-1", "--title", "t", "--lock", "lib", "--accept", "it holds"]);
    }
    shop.commit();
    shop
}

fn in_folder(shop: &Shop, folder: &str, arguments: &[&str]) -> String {
    let answer = shop.house.run_in(&shop.house.path(folder), arguments, "", &[]);
    assert_eq!(answer.code, 0, "{folder} {arguments:?}: {answer:?}");
    answer.out
}

#[test]
fn a_project_below_the_top_of_its_repository_is_asked_before_a_commit() {
    let shop = below(&["svc", "my app/ui"]);
    let worker = [("COUNTERSIGN_ACTOR", "worker-1")];
    for folder in ["svc", "my app/ui"] {
        let doctor = shop.house.run_in(&shop.house.path(folder), &["doctor"], "", &[]);
        assert!(doctor.out.lines().any(|line| line.contains("git hook") && line.contains("it blocks")), "{doctor:?}");
        let (inside, outside) = (format!("{folder}/lib/a.rs"), format!("{folder}/docs/b.md"));
        shop.house.write(&inside, "changed").write(&outside, "changed");
        for path in [&inside, &outside] {
            let (code, _, err) = shop.try_git(&["commit", path, "-mx"], &worker);
            assert!(code != 0 && err.contains("SCOPE_VIOLATION"), "nobody holds anything: {err}");
        }
        in_folder(&shop, folder, &["task", "claim", "T-1", "--as", "worker-1"]);
        let (code, _, err) = shop.try_git(&["commit", &inside, "-mx"], &worker);
        assert_eq!(code, 0, "{err}");
        let (code, _, err) = shop.try_git(&["commit", &outside, "-mx"], &worker);
        assert!(code != 0 && err.contains("SCOPE_VIOLATION: `docs/b.md`"), "{err}");
        shop.git(&["checkout", "--quiet", "--", "."]);
    }
    // In another worktree, whose hooks are the same.
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().canonicalize().unwrap().join("tree");
    let tree = tree.to_str().unwrap();
    shop.git(&["worktree", "add", "--quiet", "-b", "other", tree]);
    for (path, is_allowed) in [("svc/lib/a.rs", true), ("svc/docs/b.md", false)] {
        std::fs::write(format!("{tree}/{path}"), "changed there").unwrap();
        let (code, _, err) = shop.try_git(&["-C", tree, "commit", path, "-mx"], &worker);
        assert_eq!(code == 0, is_allowed, "{path}: {err}");
    }
    // What lies in none of them is nobody's to refuse here.
    shop.house.write("src/a/one.rs", "free");
    let (code, _, err) = shop.try_git(&["commit", "src/a/one.rs", "-mx"], &worker);
    assert_eq!(code, 0, "{err}");
    // A project that cannot be read is not passed over.
    shop.house.write("svc/lib/a.rs", "again").write("svc/.countersign/config.toml", "this = is = not = toml");
    let (code, _, err) = shop.try_git(&["commit", "svc/lib/a.rs", "-mx"], &worker);
    assert!(code != 0 && err.contains("config.toml"), "{err}");
    shop.git(&["checkout", "--quiet", "--", "svc/.countersign"]);
    let ledger = std::fs::read_dir(shop.house.path("svc/.countersign")).unwrap().map(|entry| entry.unwrap().path());
    ledger
        .filter(|path| path.to_string_lossy().contains("ledger"))
        .for_each(|path| std::fs::remove_file(path).unwrap());
    shop.house.write("svc/.countersign/ledger.db", "this is no database, and it never was one".repeat(200));
    let (code, _, err) = shop.try_git(&["commit", "svc/lib/a.rs", "-mx"], &worker);
    assert!(code != 0 && err.contains("cannot tell"), "{err}");
}

#[test]
fn doctor_tries_the_hooks_of_git_and_changes_nothing() {
    let shop = Shop::idle();
    done(&shop, &["install", "git", "--yes"]);
    shop.house.write("docs/c.md", "staged");
    shop.git(&["add", "docs/c.md"]);
    let before = (shop.git(&["status", "--porcelain"]), shop.git(&["ls-files", "--stage"]));
    let said = || done(&shop, &["doctor"]).lines().find(|line| line.contains("git hook")).unwrap().to_owned();
    assert!(said().contains("it blocks"), "{}", said());
    assert_eq!((shop.git(&["status", "--porcelain"]), shop.git(&["ls-files", "--stage"])), before);
    // Before the first commit as well.
    let fresh = Shop { house: house::House::new() };
    fresh.git(&["init", "--quiet"]);
    done(&fresh, &["init", "--name", "fresh"]);
    done(&fresh, &["install", "git", "--yes"]);
    assert!(done(&fresh, &["doctor"]).lines().any(|line| line.contains("git hook") && line.contains("it blocks")));
    // The file that it is tried with is the only one that is refused while no run is open.
    shop.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,.countersign/probe",
    ]);
    let (code, _, err) = shop.try_git(&["commit", "-mx"], &[]);
    assert!(code != 0 && err.contains("`.countersign/probe`"), "{err}");
}

#[test]
fn what_is_set_up_can_be_told_to_programs() {
    for client in ["claude-code", "codex", "git"] {
        let shop = Shop::idle();
        let told = |more: &[&str]| {
            let answer = shop.house.run(&[&["install", client, "--format", "json"], more].concat());
            let said: Value = serde_json::from_str(&answer.out).unwrap();
            assert_eq!(said["client"], client);
            (answer.code, said["outcome"].as_str().unwrap().to_owned(), said)
        };
        let before = files(&shop);
        for (more, code, outcome) in [(&["--dry-run"][..], 0, "planned"), (&[], 1, "not_done")] {
            let (found, said, all) = told(more);
            assert_eq!((found, said.as_str()), (code, outcome), "{all}");
            assert!(
                all["diff"].as_str().unwrap().contains("+++") && !all["files"].as_array().unwrap().is_empty(),
                "{all}"
            );
            assert_eq!(files(&shop), before);
        }
        for (more, outcome, is_remove) in [
            (&["--yes"][..], "done", false),
            (&["--yes"], "unchanged", false),
            (&["--remove", "--yes"], "done", true),
            (&["--remove", "--yes"], "unchanged", true),
        ] {
            let (code, said, all) = told(more);
            assert_eq!((code, said.as_str(), &all["remove"]), (0, outcome, &json!(is_remove)), "{all}");
            assert_eq!(all["files"].as_array().unwrap().is_empty(), outcome == "unchanged", "{all}");
        }
        assert_eq!(files(&shop), before);
    }
}
