//! How git reads and writes files in a run: as when it began, until a person has accepted something else.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use run_support::{Yard, task, wait_for};
use serde_json::{Value, json};

/// A test without helpers, and a criterion that pins it.
fn strict(yard: &Yard) -> Value {
    yard.write("tests/t.sh", "echo 1..1\nif grep -q work src/T-1; then echo ok 1; else echo not ok 1; fi\n");
    yard.commit("a test");
    json!([{ "text": "the test passes", "check": { "test": ["sh", "tests/t.sh"] }, "pin": "tests/t.sh" }])
}

#[test]
fn no_agent_says_how_git_reads_and_writes_files() {
    let loose = "echo 1..1; echo ok 1";
    let cases = [
        (
            format!(
                "git config filter.z.smudge \"echo '{loose}'\"; git config filter.z.clean \"git cat-file blob $(git rev-parse HEAD:tests/t.sh)\"
echo 'tests/t.sh filter=z' >> \"$(git rev-parse --git-common-dir)/info/attributes\""
            ),
            "filter.z.clean, filter.z.smudge, info/attributes",
        ),
        ("echo 'tests/t.sh working-tree-encoding=UTF-16' >> \"$(git rev-parse --git-common-dir)/info/attributes\"".to_owned(), "info/attributes"),
        ("git config core.autocrlf true".to_owned(), "core.autocrlf"),
        ("echo '*.sh text eol=crlf' > ../a; git config core.attributesFile \"$PWD/../a\"".to_owned(), "core.attributesfile"),
    ];
    for (bend, words) in cases {
        let yard = Yard::new();
        let acceptance = strict(&yard);
        let script =
            format!("mkdir -p \"$(git rev-parse --git-common-dir)/info\"\n{bend}\necho idle > src/T-1; claim src/T-1");
        let answer = yard.one(json!({ "coder": yard.agent(&script) }), json!({ "acceptance": acceptance }), json!({}));
        answer.says(words);
        assert_eq!((answer.code, yard.count("task.completed", "T-1")), (1, 0), "{}", answer.out);
        let asked = yard.asked();
        assert_eq!((asked["code"].as_str(), yard.count("task.claimed", "T-1")), (Some("SCOPE_VIOLATION"), 1));
        assert!(asked["content"].as_str().unwrap().starts_with("sha256:"), "{asked}");
    }
    // What has nothing to do with files is anybody's to set, and so is what was there before.
    let yard = Yard::new();
    let acceptance = strict(&yard);
    yard.git(&["config", "filter.upper.smudge", "cat"]);
    let script =
        "git config branch.main.remote origin; git config merge.tool vimdiff; git config merge.conflictStyle zdiff3
echo work > src/T-1; claim src/T-1";
    let answer = yard.one(json!({ "coder": yard.agent(script) }), json!({ "acceptance": acceptance }), json!({}));
    assert_eq!(answer.code, 0, "{}", answer.out);
    yard.is_tidy();
}

#[test]
fn what_the_settings_of_git_were_is_in_the_ledger_and_others_are_accepted_by_their_hash() {
    let yard = Yard::new();
    let acceptance = strict(&yard);
    // Whatever lies in the folder of the run, nobody makes the run forget how it began.
    let script = "git config core.autocrlf input; rm -rf \"$COUNTERSIGN_PROJECT\"/.countersign/runs/*/folders
echo work > src/T-1; claim src/T-1";
    let answer = yard.one(json!({ "coder": yard.agent(script) }), json!({ "acceptance": acceptance }), json!({}));
    answer.says("how git reads and writes files was changed").says("core.autocrlf");
    assert_eq!((answer.code, yard.landed().len()), (1, 0), "{}", answer.out);
    let content = yard.asked()["content"].as_str().unwrap().to_owned();
    yard.decide(&["task", "unblock", "T-1", "--reason", "once more"]).ended_with(0);
    let answer = yard.resume();
    assert_eq!((answer.code, yard.asked()["content"].as_str()), (1, Some(content.as_str())), "{}", answer.out);
    yard.accept(&content);
    let answer = yard.resume();
    assert_eq!((answer.code, yard.landed().len()), (0, 1), "{}", answer.out);
}

#[test]
fn what_an_agent_had_done_when_settings_changed_waits_for_a_person_and_is_not_done_again() {
    for is_put_back in [true, false] {
        let yard = Yard::new();
        let acceptance = strict(&yard);
        let script = "git config merge.z.driver true; echo work > src/T-1; claim src/T-1";
        let answer = yard.one(json!({ "coder": yard.agent(script) }), json!({ "acceptance": acceptance }), json!({}));
        answer.says("merge.z.driver");
        assert_eq!((answer.code, yard.asked()["code"].as_str()), (1, Some("SCOPE_VIOLATION")), "{}", answer.out);
        assert_eq!((yard.count("result.submitted", "T-1"), yard.landed().len()), (1, 0), "{}", answer.out);
        if is_put_back {
            yard.git(&["config", "--remove-section", "merge.z"]);
            yard.decide(&["task", "unblock", "T-1", "--reason", "I put it back"]).ended_with(0);
        } else {
            yard.accept(yard.asked()["content"].as_str().unwrap());
        }
        let answer = yard.resume();
        assert_eq!((answer.code, yard.landed().len()), (0, 1), "{is_put_back} {}", answer.out);
        assert_eq!(yard.count("result.submitted", "T-1"), 1, "{is_put_back} {}", answer.out);
    }
}

#[test]
fn what_settings_were_is_remembered_whatever_becomes_of_the_runner_and_its_files() {
    let yard = Yard::new();
    let acceptance = strict(&yard);
    let begun = yard.path("begun");
    let script = format!(
        r#"[ -f {begun} ] || git config core.autocrlf true
find "$COUNTERSIGN_PROJECT/.countersign/runs" -name '*.json' -delete
echo idle > src/T-1
if [ ! -f {begun} ]; then touch {begun}; sleep 60; fi
claim src/T-1"#,
        begun = begun.display()
    );
    let plan = yard.plan(
        json!({ "coder": yard.agent(&script) }),
        vec![task("T-1", json!({ "acceptance": acceptance }))],
        json!({}),
    );
    let going = yard.start(&["run", &plan]);
    wait_for("the agent", || begun.exists());
    going.kill();
    let answer = yard.resume();
    answer.says("core.autocrlf");
    assert_eq!((answer.code, yard.asked()["code"].as_str()), (1, Some("SCOPE_VIOLATION")), "{}", answer.out);
}

#[test]
fn settings_of_one_working_tree_are_looked_at_like_all_others() {
    let yard = Yard::new();
    let acceptance = strict(&yard);
    yard.git(&["config", "extensions.worktreeConfig", "true"]);
    let other = yard.path("other").display().to_string();
    yard.git(&["worktree", "add", "--quiet", "--detach", &other]);
    let script = |what: &str| format!("git -C {other} config --worktree {what}; echo work > src/T-1; claim src/T-1");
    let run = |what: &str| {
        yard.one(json!({ "coder": yard.agent(&script(what)) }), json!({ "acceptance": acceptance }), json!({}))
    };
    let answer = run("filter.z.smudge 'echo ok'");
    answer.says("filter.z.smudge in config.worktree");
    assert_eq!((answer.code, yard.asked()["code"].as_str()), (1, Some("SCOPE_VIOLATION")), "{}", answer.out);
    yard.decide(&["run", "cancel", "--reason", "once more"]).ended_with(0);
    let answer = run("user.name ann");
    assert_eq!(answer.code, 0, "{}", answer.out);
}
