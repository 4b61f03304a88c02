//! Agents as processes: how they end, and what they leave.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]
#![cfg(target_os = "linux")]

mod agent_support;

use agent_support::{PATIENCE, Place, eventually, runs};
use countersign_runner::agent::{How, Mark, Stop, Stopped, answer_of, stop_old};
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_program_reads_its_input_in_its_folder_and_its_output_is_the_answer() {
    let place = Place::shell("cat; pwd >&2");
    let ended = place.run();
    assert_eq!(ended.how, How::Exited(0));
    assert_eq!(answer_of(&place.agent, &ended).unwrap(), "{\"task\":\"T-1\"}");
    assert_eq!(ended.err_tail.trim(), place.path("work").to_str().unwrap());
    assert_eq!((ended.leftovers, ended.left, ended.overflow), (0, 0, false));
    assert!(ended.usage.is_none());
}

#[test]
fn an_answer_in_a_code_fence_is_what_stands_in_it() {
    for (script, expected) in [
        (r#"printf '```json\n{"a": 1}\n```\n'"#, r#"{"a": 1}"#),
        (r#"printf '```\n{"a": 1}\n```'"#, r#"{"a": 1}"#),
        (r#"printf 'So:\n```json\n{"a": 1}\n```\n'"#, "So:\n```json\n{\"a\": 1}\n```\n"),
    ] {
        let place = Place::shell(script);
        assert_eq!(answer_of(&place.agent, &place.run()).unwrap(), expected, "{script}");
    }
}

#[test]
fn programs_that_do_not_end_well_have_no_answer() {
    let cases = [
        (
            "echo '{}'; echo why >&2; exit 3",
            How::Exited(3),
            "`sh` ended with an error (exit code 3); last on standard error: why",
        ),
        ("echo '{}'; kill -9 $$", How::Signaled(9), "`sh` was ended by signal 9"),
        ("kill -TERM $$", How::Signaled(15), "`sh` was ended by signal 15"),
        ("exit 0", How::Exited(0), "`sh` ended well and wrote no result to standard output"),
        ("printf 'a\\377'", How::Exited(0), "`sh` wrote what is not UTF-8, at byte 1"),
        (
            "head -c 1500000 /dev/zero | tr '\\0' x",
            How::Exited(0),
            "`sh` wrote 1500000 bytes to standard output, which is more than an answer may have",
        ),
    ];
    for (script, how, expected) in cases {
        let place = Place::shell(script);
        let ended = place.run();
        assert_eq!(ended.how, how, "{script}");
        assert_eq!(answer_of(&place.agent, &ended).unwrap_err(), expected, "{script}");
    }
}

#[test]
fn a_flood_is_read_to_its_end_and_not_kept() {
    let place = Place::shell("head -c 60000000 /dev/zero; head -c 60000000 /dev/zero >&2; echo the end >&2");
    let ended = place.run();
    assert_eq!(ended.how, How::Exited(0));
    assert_eq!((ended.out_bytes, ended.err_bytes), (60_000_000, 60_000_008));
    assert!(ended.overflow && ended.out.len() == place.limits.out_max);
    assert!(ended.err_tail.len() <= 8 * place.limits.err_max);
    let place = Place::shell("yes no end | head -c 20000000 >&2");
    let mut lines = Vec::new();
    let ended = place.start().unwrap().wait(&Stop::default(), None, &mut |pulse| {
        lines.extend(pulse.line.map(str::to_owned));
    });
    assert_eq!((ended.err_bytes, lines.len()), (20_000_000, place.limits.lines_max + 1));
    assert!(ended.err_tail.starts_with("no end\nno end\n"));
}

#[test]
fn input_that_is_not_read_blocks_nobody() {
    for script in ["echo '{}'", "exec <&-; echo '{}'", "head -c 10 >/dev/null; echo '{}'"] {
        let mut place = Place::shell(script);
        place.input = vec![b'x'; 8 << 20];
        let ended = place.run();
        assert_eq!((ended.how, ended.out.as_slice()), (How::Exited(0), b"{}\n".as_slice()), "{script}");
    }
}

#[test]
fn an_agent_that_closes_its_output_early_is_waited_for() {
    let place = Place::shell("echo '{}'; exec >&- 2>&-; sleep 0.3; exit 4");
    let ended = place.run();
    assert_eq!((ended.how, ended.out.as_slice()), (How::Exited(4), b"{}\n".as_slice()));
}

#[test]
fn an_agent_is_ended_when_its_time_is_over_whether_it_likes_it_or_not() {
    let cases = [
        "echo $$ > pid; sleep 1000",
        "trap '' TERM; echo $$ > pid; while :; do sleep 1; done",
        "trap 'echo asked >&2; exit 0' TERM; echo $$ > pid; while :; do sleep 0.05; done",
        // It stops itself, and must be ended all the same.
        "echo $$ > pid; kill -STOP $$; sleep 1000",
    ];
    for script in cases {
        let place = Place::shell(script);
        let running = place.start().unwrap();
        let pid = place.pid("pid");
        assert_eq!(pid, running.mark().pid, "{script}");
        let ended = running.wait(&Stop::default(), Some(Instant::now()), &mut |_| {});
        assert_eq!((ended.how, ended.left), (How::TimedOut, 0), "{script}");
        assert!(!runs(pid), "{script}");
        assert_eq!(ended.err_tail.contains("asked"), script.contains("asked"), "it was asked before it was made to");
        assert!(answer_of(&place.agent, &ended).unwrap_err().contains("was not done in time"));
    }
}

#[test]
fn an_agent_is_ended_when_somebody_asks_for_it() {
    let place = Place::shell("echo $$ > pid; sleep 1000");
    let (running, stop) = (place.start().unwrap(), Stop::default());
    let asking = {
        let stop = stop.clone();
        let pid = place.pid("pid");
        std::thread::spawn(move || {
            stop.stop();
            pid
        })
    };
    let ended = running.wait(&stop, Some(Instant::now() + PATIENCE), &mut |_| {});
    assert_eq!((ended.how, ended.left), (How::Stopped, 0));
    assert!(!runs(asking.join().unwrap()));
}

/// What an agent can do to leave something behind, each writing the number of what it leaves into `pid`. The shell's own
/// `wait` keeps the first process there where a case needs it.
const LEAVING: &[(&str, &str)] = &[
    ("in the group", "sleep 1000 & echo $! > pid"),
    ("deaf, in the group", "(trap '' TERM; exec sleep 1000) & echo $! > pid"),
    (
        "in a session of its own",
        "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while [ ! -s pid ]; do sleep 0.01; done",
    ),
    (
        "deaf, in a session of its own",
        "setsid sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' & while [ ! -s pid ]; do sleep 0.01; done",
    ),
    (
        "forked twice",
        "sh -c 'setsid sh -c \"echo \\$\\$ > pid; exec sleep 1000\" &'; while [ ! -s pid ]; do sleep 0.01; done",
    ),
    ("holding the pipes", "sleep 1000 2>&1 & echo $! > pid; echo '{}'"),
    ("without environment, in the group", "env -i sleep 1000 & echo $! > pid"),
];

#[test]
fn nothing_is_left_when_an_agent_ends_by_itself() {
    for (what, script) in LEAVING {
        let place = Place::shell(script);
        let ended = place.run();
        let pid = place.pid("pid");
        assert!(!runs(pid), "{what}");
        assert_eq!((ended.how, ended.left), (How::Exited(0), 0), "{what}");
        assert!(ended.leftovers >= 1, "{what}");
    }
}

#[test]
fn nothing_is_left_when_an_agent_is_ended() {
    let hidden = ("a session of its own without environment", "env -i setsid sh -c 'echo $$ > pid; exec sleep 1000' &");
    for (what, script) in LEAVING.iter().chain(&[hidden]) {
        let place = Place::shell(&format!("{script}\nsleep 1000"));
        let running = place.start().unwrap();
        let pid = place.pid("pid");
        assert!(runs(pid), "{what}");
        let ended = running.wait(&Stop::default(), Some(Instant::now()), &mut |_| {});
        assert!(!runs(pid), "{what}");
        assert_eq!((ended.how, ended.left), (How::TimedOut, 0), "{what}");
    }
}

#[test]
fn processes_that_fork_all_the_time_are_ended() {
    // Each makes the next and goes; none lives long enough to be asked.
    let script = "
import os, time
open('pid', 'w').write(str(os.getpid()) + '\\n')
while True:
    if os.fork() > 0:
        time.sleep(0.02)
        os._exit(0)
";
    let place = Place::python(&format!("import os,sys\nif os.fork() > 0:\n  import time; time.sleep(1000)\n{script}"));
    let running = place.start().unwrap();
    place.pid("pid");
    let attempt = running.mark().attempt;
    let ended = running.wait(&Stop::default(), Some(Instant::now()), &mut |_| {});
    assert_eq!((ended.how, ended.left), (How::TimedOut, 0));
    let marked = format!("COUNTERSIGN_ATTEMPT={attempt}");
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        assert!(!environment.split(|byte| *byte == 0).any(|it| it == marked.as_bytes()), "{:?}", entry.path());
    }
}

#[test]
fn an_agent_that_nobody_waits_for_is_ended() {
    let place = Place::shell("trap '' TERM; echo $$ > pid; while :; do sleep 1; done");
    let running = place.start().unwrap();
    let pid = place.pid("pid");
    drop(running);
    assert!(!runs(pid));
}

#[test]
fn an_agent_sees_what_is_named_and_nothing_else() {
    let seen = |declared: serde_json::Value| {
        let mut place = Place::new(&declared);
        place.variables = vec![("COUNTERSIGN_TOKEN".into(), "for-this-task".into())];
        let ended = place.run();
        let text = String::from_utf8(ended.out).unwrap();
        let names = text.split('\0').filter_map(|entry| Some(entry.split_once('=')?.0.to_owned()));
        names.collect::<Vec<_>>()
    };
    let program = json!(["cat", "/proc/self/environ"]);
    let usual = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "TZ", "TERM"];
    let ours = ["COUNTERSIGN_TOKEN", "COUNTERSIGN_ATTEMPT"];
    let names = seen(json!({ "command": program }));
    let strange: Vec<&String> = names
        .iter()
        .filter(|name| !usual.contains(&name.as_str()) && !ours.contains(&name.as_str()) && !name.starts_with("LC_"))
        .collect();
    assert_eq!(strange, Vec::<&String>::new());
    assert!(ours.iter().all(|name| names.iter().any(|it| it == name)));
    // This test's own environment has it; cargo sees to that.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let names = seen(json!({ "command": program, "environment": ["CARGO_MANIFEST_DIR", "IS_NOT_SET"] }));
    assert!(names.iter().any(|name| name == "CARGO_MANIFEST_DIR") && !names.iter().any(|name| name == "IS_NOT_SET"));
}

#[test]
fn what_cannot_be_started_says_why() {
    let program = |name: &str| json!({ "command": [name] });
    let cases = [
        (program("no-such-program-anywhere"), "agent `no-such-program-anywhere` cannot be started: "),
        (program("/etc/passwd"), "make it executable"),
        (json!({ "peer": true }), "claims its tasks itself"),
        (json!({ "command": ["sh"], "environment": ["COUNTERSIGN_TOKEN"] }), "`COUNTERSIGN_TOKEN` cannot be handed"),
        (json!({ "command": ["sh"], "environment": ["A=B"] }), "`A=B` is no name of a variable"),
        (json!({ "preset": "claude", "model": "-x" }), "model `-x` would be read as an option"),
    ];
    for (declared, expected) in cases {
        let said = Place::new(&declared).start().unwrap_err();
        assert!(said.contains(expected), "{said}");
    }
    let mut place = Place::shell("true");
    place.variables = vec![("COUNTERSIGN_ATTEMPT".into(), "1".into())];
    assert!(place.start().unwrap_err().contains("is the mark of an attempt"));
}

#[test]
fn standard_error_is_handed_on_line_by_line_without_secrets() {
    let mut place = Place::shell("{ echo one; printf '\\033[31mtwo '; echo $COUNTERSIGN_TOKEN; } >&2; echo '{}'");
    place.variables = vec![("COUNTERSIGN_TOKEN".into(), "opaque-value-of-a-task".into())];
    let mut lines = Vec::new();
    let ended = place.start().unwrap().wait(&Stop::default(), None, &mut |pulse| {
        lines.extend(pulse.line.map(str::to_owned));
    });
    assert_eq!(lines, ["one", "\\u{1b}[31mtwo [REDACTED:environment]"]);
    assert!(!ended.err_tail.contains("opaque-value"), "{}", ended.err_tail);
}

#[test]
fn signs_of_life_come_while_an_agent_is_silent() {
    let mut place = Place::shell("while [ ! -e seen ]; do sleep 0.01; done; echo '{}'");
    place.limits.beat = Duration::from_millis(20);
    let seen = place.path("work").join("seen");
    let mut beats = 0;
    let ended = place.start().unwrap().wait(&Stop::default(), Some(Instant::now() + PATIENCE), &mut |pulse| {
        beats += 1;
        assert!(pulse.line.is_none());
        if beats == 3 {
            std::fs::write(&seen, "").unwrap();
        }
    });
    assert_eq!(ended.how, How::Exited(0));
    assert!(beats >= 3);
}

/// Not a test by itself: a runner that starts an agent and is killed. It does nothing unless it is asked to.
#[test]
fn a_runner_to_be_killed() {
    let Some(script) = std::env::var_os("TO_BE_KILLED_SCRIPT") else { return };
    let place = Place::shell(script.to_str().unwrap());
    let running = place.start().unwrap();
    let mark = serde_json::to_string(&running.mark()).unwrap();
    println!("mark {mark}");
    println!("work {}", place.path("work").display());
    std::thread::sleep(PATIENCE);
}

/// Starts an agent through a runner of its own and kills that runner. Gives the mark, and the agent's folder.
fn orphan(script: &str) -> (Mark, std::path::PathBuf) {
    use std::io::{BufRead, BufReader};
    let mut runner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_runner_to_be_killed", "--nocapture", "--test-threads=1"])
        .env("TO_BE_KILLED_SCRIPT", script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut mark, mut work) = (None, None);
    for line in BufReader::new(runner.stdout.take().unwrap()).lines().map_while(Result::ok) {
        // The harness may have begun the line.
        if let Some((_, text)) = line.split_once("mark {") {
            mark = serde_json::from_str(&format!("{{{text}")).ok();
        }
        if let Some(path) = line.strip_prefix("work ") {
            work = Some(std::path::PathBuf::from(path));
            break;
        }
    }
    let work = work.unwrap();
    eventually(|| work.join("ready").exists().then_some(()));
    runner.kill().unwrap();
    runner.wait().unwrap();
    (mark.unwrap(), work)
}

fn number(path: &std::path::Path) -> u32 {
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

#[test]
fn what_a_killed_runner_left_is_ended_and_nothing_else() {
    let cases = [
        ("the first process", "echo $$ > pid; touch ready; sleep 1000"),
        ("one that is deaf", "trap '' TERM PIPE; echo $$ > pid; touch ready; while :; do sleep 1; done"),
        ("a child whose parent is gone", "sleep 1000 & echo $! > pid; touch ready; exit 0"),
        (
            "one in a session of its own",
            "setsid sh -c 'echo $$ > pid; touch ready; exec sleep 1000' & sleep 0.01; exit 0",
        ),
        (
            "one without the mark, in the group of one with it",
            "sleep 1000 & env -i sleep 1000 & echo $! > pid; touch ready; exit 0",
        ),
    ];
    for (what, script) in cases {
        let (mark, work) = orphan(script);
        let pid = number(&work.join("pid"));
        assert!(runs(pid), "{what}");
        // A mark that is another's touches nothing.
        let later = Mark { start_time: mark.start_time + 1_000_000, ..mark.clone() };
        let elsewhere = Mark { boot_id: "another".into(), ..mark.clone() };
        let nameless = Mark { attempt: String::new(), ..mark.clone() };
        assert_eq!(stop_old(&later), Stopped::Gone, "{what}");
        assert_eq!(stop_old(&elsewhere), Stopped::Gone, "{what}");
        assert_eq!(stop_old(&nameless), Stopped::Unknown, "{what}");
        assert!(runs(pid), "{what}");
        assert!(matches!(stop_old(&mark), Stopped::Ended(1..)), "{what}");
        assert!(!runs(pid), "{what}");
        assert_eq!(stop_old(&mark), Stopped::Gone, "{what}");
        let _ = std::fs::remove_dir_all(work.parent().unwrap());
    }
}

#[test]
fn a_stranger_in_the_group_of_a_number_that_was_ours_is_not_touched() {
    let (mark, work) = orphan("env -i sleep 1000 & echo $! > pid; touch ready; exit 0");
    let pid = number(&work.join("pid"));
    // When the first process is gone for good and nobody with the mark is left, the group may as well be somebody else's.
    eventually(|| (!std::path::Path::new(&format!("/proc/{}", mark.pid)).exists()).then_some(()));
    eventually(|| std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|it| it.is_empty()).then_some(()));
    assert_eq!(stop_old(&mark), Stopped::Gone);
    assert!(runs(pid));
    Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    let _ = std::fs::remove_dir_all(work.parent().unwrap());
}
