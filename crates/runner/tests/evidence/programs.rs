//! Programs that end well, badly, late or not at all.

use crate::check;
use countersign_contract::serde_json::json;
use countersign_runner::evidence::{Before, Evidence, Site, Status, collect, red};
use std::path::Path;
use std::time::{Duration, Instant};

fn shell(folder: &Path, script: &str, timeout: &str) -> Evidence {
    collect(&check(&json!({ "command": ["sh", "-c", script], "timeout": timeout })), &Site::at(folder))
}

fn output(evidence: &Evidence) -> &str {
    evidence.output.as_deref().unwrap()
}

/// Waits until a process has ended, which takes it a moment after it was told to.
fn ends(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(30);
    while runs(pid) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    !runs(pid)
}

/// Whether a process runs. One that ended may still wait for its parent.
fn runs(pid: &str) -> bool {
    let said = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

#[test]
fn a_program_passes_when_it_ends_with_0() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("true", Status::Pass, Some(0), None),
        ("exit 3", Status::Fail, Some(3), None),
        ("kill -9 $$", Status::Fail, None, Some(9)),
        ("nosuchprogram", Status::Fail, Some(127), None),
    ];
    for (script, status, code, signal) in cases {
        let evidence = shell(folder.path(), script, "60s");
        assert_eq!((evidence.status, evidence.exit_code, evidence.signal), (status, code, signal), "{script}");
        assert!(!evidence.timed_out && !evidence.says.is_empty());
    }
}

#[test]
fn a_program_that_cannot_be_started_shows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain.sh"), "true\n").unwrap();
    let gone = folder.path().join("gone");
    let cases = [
        ("nosuchprogram", folder.path(), "missing"),
        ("./plain.sh", folder.path(), "executable"),
        ("./gone.sh", folder.path(), "missing"),
        ("true", gone.as_path(), "folder"),
    ];
    for (program, folder, says) in cases {
        for kind in ["command", "test"] {
            let evidence = collect(&check(&json!({ kind: [program] })), &Site::at(folder));
            assert_eq!(evidence.status, Status::Blocked, "{program}");
            assert!(evidence.says.contains(says), "{program}: {}", evidence.says);
        }
    }
}

#[test]
fn a_program_runs_in_the_checkout_with_a_cleaned_environment_and_no_input() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("here"), "").unwrap();
    let environment = [("OWN_VARIABLE".to_owned(), "own".to_owned())];
    let site = Site { environment: &environment, ..Site::at(folder.path()) };
    let wanted = check(&json!({ "command": ["sh", "-c", "test -e here && env && cat", "$(touch made)"] }));
    let evidence = collect(&wanted, &site);
    assert_eq!(evidence.status, Status::Pass, "{evidence:?}");
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the tests' own environment has it");
    assert!(!output(&evidence).contains("CARGO_MANIFEST_DIR"));
    for line in ["OWN_VARIABLE=own", "LANG=C.UTF-8"] {
        assert!(output(&evidence).lines().any(|it| it == line), "{line}");
    }
    assert!(!folder.path().join("made").exists(), "no shell looks at arguments");
}

#[test]
fn secrets_and_escape_sequences_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (head, tail) = ("ghp_", "a1".repeat(18));
    let script = format!("printf '\\033[31mtoken {head}\\033[1m'; printf '{tail}\\033[0m\\n'");
    let evidence = shell(folder.path(), &script, "60s");
    let secret = format!("{head}{tail}");
    assert_eq!(evidence.status, Status::Pass);
    assert!(!format!("{evidence:?}").contains(&secret), "{evidence:?}");
    assert!(output(&evidence).starts_with("token [REDACTED"), "{}", output(&evidence));
}

#[test]
fn a_program_that_hangs_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = shell(folder.path(), "echo begun; sleep 1000", "1s");
    assert_eq!((evidence.status, evidence.timed_out, evidence.signal), (Status::Fail, true, Some(15)));
    assert_eq!(output(&evidence), "begun\n");
}

#[test]
fn a_program_that_will_not_end_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = shell(folder.path(), "trap '' TERM; while :; do sleep 1; done", "1s");
    assert_eq!((evidence.status, evidence.timed_out, evidence.signal), (Status::Fail, true, Some(9)));
}

#[test]
fn what_a_program_leaves_behind_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("sleep 1000 & echo $!", false),
        ("trap '' TERM HUP; sleep 1000 & echo $!", false),
        ("sleep 1000 & echo $!; sleep 1000", true),
        // It has no mark.
        ("env -i sleep 1000 & echo $!", false),
        // It leaves the group, and keeps the streams open.
        ("setsid sleep 1000 & echo $!", false),
        ("setsid sh -c 'sleep 1000 & echo $!; wait' & sleep 1000", true),
    ];
    for (script, timed_out) in cases {
        let evidence = shell(folder.path(), script, if timed_out { "3s" } else { "60s" });
        assert_eq!(evidence.timed_out, timed_out, "{script}");
        let pid = output(&evidence).trim().to_owned();
        assert!(pid.parse::<u32>().is_ok(), "{script}: {pid}");
        assert!(ends(&pid), "{script}: {pid} still runs");
    }
}

#[test]
fn a_flood_is_drained_counted_and_cut() {
    const FLOOD: u64 = 200_000_000;
    let folder = tempfile::tempdir().unwrap();
    for script in ["yes 0123456789", "tr '\\0' x </dev/zero"] {
        let evidence = shell(folder.path(), &format!("{script} | head -c {FLOOD}; echo; echo the end"), "300s");
        assert_eq!(evidence.status, Status::Pass, "{script}: {}", evidence.says);
        assert_eq!(evidence.output_bytes, FLOOD + 9, "{script}");
        assert!(output(&evidence).len() < 20_000 && output(&evidence).ends_with("the end\n"), "{script}");
    }
}

#[test]
fn two_streams_become_one_text() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = shell(folder.path(), "printf 'one '; echo other >&2; echo line", "60s");
    let mut lines: Vec<&str> = output(&evidence).lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["one line", "other"]);
}

#[test]
fn a_check_that_holds_on_the_base_tells_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site { patience: Duration::from_secs(60), ..Site::at(folder.path()) };
    assert!(matches!(red(&check(&json!({ "command": ["true"] })), &site), Before::TellsNothing(_)));
    assert!(matches!(red(&check(&json!({ "command": ["false"] })), &site), Before::Red(_)));
    assert!(matches!(red(&check(&json!({ "command": ["nosuchprogram"] })), &site), Before::Unknown(_)));
}

#[test]
fn what_is_not_for_this_machine_is_never_passed() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (json!({ "human": "does it look right?" }), Status::Skip),
        (json!({ "page": { "url": "http://127.0.0.1:1/" } }), Status::Blocked),
        (json!({ "diff": false }), Status::Blocked),
        (json!({}), Status::Blocked),
        (json!({ "command": ["true"], "port": 1 }), Status::Blocked),
    ];
    for (wanted, status) in cases {
        assert_eq!(collect(&check(&wanted), &Site::at(folder.path())).status, status, "{wanted}");
    }
}
