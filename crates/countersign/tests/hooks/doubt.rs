//! Whatever keeps a hook from knowing is a refusal, and comes in time.

use super::*;

#[test]
fn a_ledger_that_cannot_be_opened_is_a_refusal() {
    let shop = Shop::open();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let ledger = shop.house.path(".countersign/ledger.db");
    // What SQLite keeps beside the file could bring it back.
    let bare = || {
        for entry in std::fs::read_dir(shop.house.path(".countersign")).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ledger")) {
                std::fs::remove_file(path).unwrap();
            }
        }
    };
    let spoil: [&dyn Fn(); 2] = [
        &|| {
            bare();
            std::fs::write(&ledger, "this is no database, and it never was one".repeat(200)).unwrap();
        },
        &bare,
    ];
    for spoil in spoil {
        spoil();
        for (client, event) in WRITES {
            let answer = shop.answer(client, event, "src/a/one.rs");
            assert!(denied(&answer).unwrap().contains("cannot tell"), "{answer}");
        }
        assert_eq!(shop.answer("claude-code", "bash-done", "")["decision"], "block");
        let failed = shop.answer("claude-code", "bash-failed", "");
        assert!(failed["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("cannot tell"));
        assert_eq!(shop.answer("claude-code", "stop", "")["decision"], "block");
        // Nobody is kept for ever by what cannot be mended from inside.
        let again = shop.answer("claude-code", "stop-again", "");
        assert!(again.get("decision").is_none() && again["systemMessage"].is_string(), "{again}");
        assert_eq!(shop.answer("claude-code", "session-start", ""), NOTHING());
        assert_eq!(shop.answer("claude-code", "unknown", ""), NOTHING());
    }
}

/// As it is for a user who may not enter `.countersign/`: that there is nothing cannot be told, and nothing else says what
/// the directory is.
#[cfg(unix)]
#[test]
fn a_ledger_that_may_not_be_looked_at_is_a_refusal() {
    let shop = Shop::open();
    shop.house.write("docs/c.md", "stray");
    shop.git(&["add", "docs/c.md"]);
    let ledger = shop.house.path(".countersign/ledger.db");
    std::fs::remove_file(&ledger).unwrap();
    std::fs::remove_dir_all(shop.house.path(".home")).unwrap();
    // Modes do not bind whoever may do anything; a link that leads to itself does.
    std::os::unix::fs::symlink("ledger.db", &ledger).unwrap();
    for (client, event) in WRITES {
        let answer = shop.answer(client, event, "src/a/one.rs");
        assert!(denied(&answer).unwrap().contains("ledger.db cannot be seen"), "{answer}");
    }
    assert_eq!(shop.answer("claude-code", "stop", "")["decision"], "block");
    let commit = shop.hook("git", "", &[]);
    assert_eq!((commit.code, commit.err.contains("ledger.db cannot be seen")), (2, true), "{commit:?}");
    let verb = shop.house.run(&["task", "next"]);
    assert_eq!((verb.code, verb.err.contains("init")), (3, false), "{verb:?}");
    assert!(verb.err.contains("ledger.db cannot be seen"), "{verb:?}");
}

#[test]
fn settings_that_are_not_right_are_a_refusal() {
    let shop = Shop::open();
    shop.house.write(".countersign/config.toml", "this = is = not = toml");
    let answer = shop.answer("claude-code", "write", "src/a/one.rs");
    assert!(denied(&answer).unwrap().contains("config.toml"), "{answer}");
}

#[test]
fn an_answer_comes_before_the_deadline_whatever_is_waited_for() {
    for (shop, code) in [(Shop::open(), 2), (Shop::unmanaged(), 0)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["hook", "claude-code", "--deadline", "0.2"]).current_dir(shop.root());
        command.env("COUNTERSIGN_HOME", shop.house.path(".home")).env_remove("CLAUDE_PROJECT_DIR");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Standard input stays open, and nothing comes.
        let held = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(held);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), err.contains("within 0.2 s")), (Some(code), code == 2), "{err}");
    }
}

#[test]
fn a_ledger_that_somebody_writes_to_keeps_nobody_waiting() {
    let shop = Shop::open();
    let (clock, _) = Clock::manual(Time(jiff::Timestamp::now().as_millisecond() - 20 * 60_000));
    shop.ask_at(clock, CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let mut store = Sqlite::open(&shop.house.path(".countersign/ledger.db"), Clock::System).unwrap();
    store.begin_within(Duration::from_secs(30)).unwrap();
    // A sign of life is due and cannot be given; the answer does not depend on it.
    let event = shop.event("claude-code", "write", "src/a/one.rs");
    let allowed = shop.house.run_with(&["hook", "claude-code", "--deadline", "2"], &event, &[]);
    assert_eq!((allowed.code, allowed.out.trim()), (0, "{}"), "{allowed:?}");
    let event = shop.event("claude-code", "write", "docs/c.md");
    let refused = shop.house.run_with(&["hook", "claude-code"], &event, &[]);
    assert!(denied(&serde_json::from_str(&refused.out).unwrap()).unwrap().starts_with("SCOPE_VIOLATION"));
    store.rollback();
}

/// As it is for a user who may not search a directory above: that there is no project cannot be told.
#[cfg(unix)]
#[test]
fn a_project_that_may_not_be_looked_at_is_a_refusal() {
    let shop = Shop::open();
    shop.house.write("docs/c.md", "stray");
    shop.git(&["add", "docs/c.md"]);
    let folder = shop.house.path(".countersign");
    std::fs::rename(&folder, shop.house.path(".kept")).unwrap();
    // Modes do not bind whoever may do anything; a link that leads to itself does.
    std::os::unix::fs::symlink(".countersign", &folder).unwrap();
    for (client, event) in WRITES {
        let answer = shop.answer(client, event, "src/a/one.rs");
        assert!(denied(&answer).unwrap().contains(".countersign cannot be seen"), "{answer}");
    }
    assert_eq!(shop.answer("claude-code", "stop", "")["decision"], "block");
    let commit = shop.hook("git", "", &[]);
    assert_eq!((commit.code, commit.err.contains(".countersign cannot be seen")), (2, true), "{commit:?}");
    let verb = shop.house.run(&["task", "next"]);
    assert!(verb.code == 3 && verb.err.contains("--project"), "{verb:?}");
    // Nor is it allowed from where nothing is managed.
    let elsewhere = Shop::unmanaged();
    let event = elsewhere.event("claude-code", "write", shop.house.path("docs/c.md").to_str().unwrap());
    let answer = elsewhere.hook("claude-code", &event, &[]);
    assert!(answer.out.contains("cannot be seen"), "{answer:?}");
}
