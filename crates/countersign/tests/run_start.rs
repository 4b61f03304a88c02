//! What a run says, and refuses, before anybody works.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use run_support::{Yard, task};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A project with a submodule `vendor/lib` that holds one file.
fn with_submodule() -> Yard {
    let yard = Yard::new();
    let library = yard.path("library");
    std::fs::create_dir(&library).unwrap();
    std::fs::write(library.join("code"), "library\n").unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(&library);
        command.args(["-c", "user.name=ann", "-c", "user.email=ann@example.org"]).args(arguments);
        assert!(command.status().unwrap().success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "library"]);
    let from = library.display().to_string();
    yard.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "vendor/lib"]);
    yard.commit("with a submodule");
    yard
}

#[test]
fn agents_and_checks_find_submodules_as_the_commit_names_them() {
    let yard = with_submodule();
    yard.write("vendor/lib/code", "edited\n");
    let script = "cp vendor/lib/code $scope; git submodule update --init --quiet || exit 1; claim $scope";
    let check = json!({ "command": ["cmp", "src/T-1", "vendor/lib/code"] });
    let acceptance = json!([{ "text": "it is the library's", "check": check }]);
    let answer = yard.one(json!({ "coder": yard.agent(script) }), json!({ "acceptance": acceptance }), json!({}));
    answer.says("T-1: done (verified)").ended_with(0);
    assert!(!answer.out.contains("submodule"), "{}", answer.out);
    assert_eq!(yard.read("src/T-1").as_deref(), Some("library\n"));
    assert_eq!(yard.read("vendor/lib/code").as_deref(), Some("edited\n"), "nothing of it is touched");
    yard.write("vendor/lib/code", "library\n");
    yard.is_tidy();
}

#[test]
fn work_in_a_submodule_is_refused_before_and_after() {
    let yard = with_submodule();
    for scope in ["vendor/lib", "vendor/lib/code"] {
        let patch = json!({ "lock_scope": [scope] });
        let answer = yard.one(json!({ "coder": yard.honest() }), patch, json!({}));
        answer.says(&format!("the scope `{scope}` of T-1 is in the submodule `vendor/lib`")).ended_with(3);
    }
    assert_eq!(yard.runs().len(), 0);
    let script = "echo x > src/T-1; echo x > vendor/lib/code; claim src/T-1";
    let answer = yard.one(json!({ "coder": yard.agent(script) }), json!({ "retries": 0 }), json!({}));
    answer.says("vendor/lib").says("SCOPE_VIOLATION").ended_with(1);
    let patch = json!({ "lock_scope": ["src/T-1", "vendor"], "retries": 0 });
    let answer = yard.one(json!({ "coder": yard.agent(script) }), patch, json!({}));
    answer.says("put the files of that submodule back: the work of T-1 cannot land in there").ended_with(1);
    assert!(!answer.out.contains("without a `.git`"), "{}", answer.out);
}

#[test]
fn submodules_that_cannot_be_filled_are_told_and_keep_nobody_from_working() {
    let yard = with_submodule();
    std::fs::create_dir_all(yard.repository().join(".git/info")).unwrap();
    std::fs::write(yard.repository().join(".git/info/attributes"), "code filter=broken\n").unwrap();
    yard.git(&["config", "filter.broken.smudge", "false"]);
    yard.git(&["config", "filter.broken.required", "true"]);
    let answer = yard.one(json!({ "coder": yard.honest() }), json!({}), json!({}));
    answer.says("T-1: note: submodule vendor/lib cannot be filled, and stays empty").says("T-1: done").ended_with(0);
}

#[test]
fn submodules_that_are_not_here_are_told_before_anybody_works() {
    let yard = with_submodule();
    yard.git(&["submodule", "--quiet", "deinit", "--force", "vendor/lib"]);
    let agents = || json!({ "coder": yard.agent("cat vendor/lib/code > $scope; claim $scope") });
    // Git keeps what is not checked out.
    yard.one(agents(), json!({}), json!({})).ended(0);
    std::fs::remove_dir_all(yard.repository().join(".git/modules")).unwrap();
    let plan = yard.plan(agents(), vec![task("T-1", json!({ "lock_scope": ["src/T-1"], "retries": 0 }))], json!({}));
    let answer = yard.run(&["run", &plan]);
    answer.says("note: submodules that are not here stay empty").says("`vendor/lib` at ");
    let (told, begun) = (answer.out.find("submodules").unwrap(), answer.out.find("coder works").unwrap());
    assert!(told < begun, "{}", answer.out);
}

#[test]
fn edits_that_agents_do_not_see_are_told_once_before_anybody_works() {
    let yard = Yard::new();
    yard.write("src/start", "edited\n");
    yard.write("src/new", "new\n");
    yard.write("beside", "no task's\n");
    let tasks =
        vec![task("T-1", json!({ "lock_scope": ["src"] })), task("T-2", json!({ "lock_scope": ["tests/T-2"] }))];
    let script = "echo x > ${scope}x; claim ${scope}x";
    let plan = yard.plan(json!({ "coder": yard.agent(script) }), tasks, json!({}));
    let answer = yard.run(&["run", &plan, "--no-wait"]);
    answer.says("do not see these edits in their scopes: `src/start`, `src/new`; commit them first");
    assert_eq!(answer.out.matches("do not see these edits").count(), 1, "{}", answer.out);
    let json = yard.run(&["run", &plan, "--no-wait", "--format", "json"]).out;
    assert!(json.contains(r#""note":"told""#), "{json}");
    // Peers work where the edits are.
    let yard = Yard::new();
    yard.write("src/start", "edited\n");
    let tasks = vec![task("T-1", json!({ "lock_scope": ["src"], "agent": "pal" }))];
    let plan = yard.plan(json!({ "pal": { "peer": true } }), tasks, json!({}));
    let mut going = yard.start(&["run", &plan, "--no-wait"]);
    going.until("waits for pal");
    assert!(!going.out.contains("these edits"), "{}", going.out);
}

#[test]
fn edits_in_the_scopes_of_what_is_over_are_not_told() {
    let yard = Yard::new();
    let script = "test $COUNTERSIGN_TASK = T-1 || exit 1; echo x > src/T-1; claim src/T-1";
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "retries": 0 }))];
    let plan = yard.plan(json!({ "coder": yard.agent(script) }), tasks, json!({}));
    yard.run(&["run", &plan, "--no-wait"]).ended_with(1);
    yard.write("src/T-1", "edited\n");
    yard.write("src/T-2", "edited\n");
    let answer = yard.run(&["run", "--resume", "--no-wait"]);
    answer.says("do not see these edits in their scopes: `src/T-2`; commit them first");
}

#[test]
fn what_cannot_be_told_keeps_nobody_from_working() {
    let yard = Yard::new();
    let path = std::env::var("PATH").unwrap();
    let is_git = |folder: &&str| std::path::Path::new(folder).join("git").is_file();
    let real = format!("{}/git", path.split(':').find(is_git).unwrap());
    let script = format!("#!/bin/sh\ncase \"$*\" in *--ignore-submodules=all*) exit 1;; esac\nexec {real} \"$@\"\n");
    std::fs::create_dir_all(yard.path("bin")).unwrap();
    std::fs::write(yard.path("bin/git"), script).unwrap();
    std::fs::set_permissions(yard.path("bin/git"), PermissionsExt::from_mode(0o755)).unwrap();
    let plan = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({}))], json!({}));
    let path = format!("{}:{path}", yard.path("bin").display());
    let answer = yard.run_with(&["run", &plan], &[("PATH", &path)]);
    answer.says("note: what agents would not find where they work cannot be told").says("T-1: done").ended_with(0);
}

#[test]
fn programs_that_are_not_there_are_told_before_anybody_works() {
    let yard = Yard::new();
    yard.write("tools/plain.sh", "");
    yard.commit("with a file that cannot be executed");
    yard.write("tools/here.sh", "");
    let whole = yard.path("nowhere").display().to_string();
    let folder = yard.path("").display().to_string();
    std::fs::set_permissions(yard.path("lib.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    let found = yard.path("lib.sh").display().to_string();
    let of_list = "written as a list, `[pytest, -q]`";
    let cases = [
        (json!({ "test": ["pytest -q"] }), of_list),
        (
            json!({ "command": ["no-such-program", "-q"] }),
            "`no-such-program`; there is no such program in the folders of PATH",
        ),
        (json!({ "test": ["tools/here.sh"] }), "`tools/here.sh`; it lies here and is not committed"),
        (json!({ "command": ["./tools/gone.sh"] }), "`./tools/gone.sh`; it is in no commit, and no task may make it"),
        (json!({ "command": ["tools/plain.sh"] }), "it is committed as a file that cannot be executed"),
        (json!({ "command": [whole] }), "it is not there"),
        (json!({ "command": [folder] }), "is no file that can be executed"),
    ];
    let run = |check: &Value, agents: &Value, more: Value| {
        let acceptance = json!([{ "text": "it is there", "check": { "file": { "path": "src/T-1" } } }, { "text": "t", "check": check }]);
        yard.one(agents.clone(), json!({ "acceptance": acceptance, "retries": 0 }), more)
    };
    let honest = json!({ "coder": yard.honest() });
    for (check, says) in cases {
        let answer = run(&check, &honest, json!({}));
        answer.says("criterion AC-2 of T-1 is checked with").says(says).ended_with(3);
    }
    let mut agents = honest.clone();
    agents["critic"] = json!({ "command": ["no-such-critic"], "role": "validator" });
    let answer = run(&json!({ "command": ["true"] }), &agents, json!({ "gates": { "validate": "critic" } }));
    answer.says("agent critic is started with `no-such-critic`").ended_with(3);
    assert_eq!(yard.runs().len(), 0);
    // An agent that has nothing to do may be anything, a task may make a program, and a whole path is anybody's.
    for check in [json!({ "command": ["true"] }), json!({ "command": ["src/T-1"] }), json!({ "command": [found] })] {
        let answer = run(&check, &agents, json!({}));
        answer.says("coder works, attempt 1");
    }
}

#[test]
fn programs_that_the_work_may_bring_are_told_and_refused_nowhere() {
    let yard = Yard::new();
    let brought = yard.path("brought").display().to_string();
    let script = format!(
        "test $COUNTERSIGN_TASK = T-2 || {{ echo '#!/bin/sh' > {brought}; chmod +x {brought}; }}; echo x > $scope; claim $scope"
    );
    let acceptance = json!([{ "text": "it is good", "check": { "command": [brought] } }]);
    let later = |needs: &[&str]| {
        let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "acceptance": acceptance, "depends_on": needs }))];
        yard.run(&["run", &yard.plan(json!({ "coder": yard.agent(&script) }), tasks, json!({}))])
    };
    later(&[]).says("criterion AC-1 of T-2 is checked with").says("it is not there").ended_with(3);
    let answer = later(&["T-1"]);
    answer
        .says("note: programs that are not here must come from the work before they are needed: criterion AC-1 of T-2");
    answer.says("T-2: done (verified)").ended_with(0);
    // Without a repository, what an agent leaves in the folder is there when it is checked.
    let yard = Yard::plain();
    let script = "mkdir -p build; echo '#!/bin/sh' > build/try; chmod +x build/try; echo x > src/T-1; claim src/T-1";
    let acceptance = json!([{ "text": "it is good", "check": { "command": ["build/try"] } }]);
    let answer = yard.one(json!({ "coder": yard.agent(script) }), json!({ "acceptance": acceptance }), json!({}));
    answer.says("note: programs that are not here must come from the work").says("coder works, attempt 1");
}

#[test]
fn known_agents_that_are_not_there_are_told_before_anybody_works() {
    let yard = Yard::new();
    for preset in ["claude", "codex"] {
        let tasks = vec![task("T-1", json!({}))];
        let plan = yard.plan(json!({ "coder": { "preset": preset } }), tasks, json!({}));
        let answer = yard.run_with(&["run", &plan], &[("PATH", "/usr/bin:/bin")]);
        answer.says(&format!("agent coder is started with `{preset}`; there is no such program")).ended_with(3);
    }
}

#[test]
fn agents_may_live_in_a_submodule() {
    let yard = with_submodule();
    let tasks = vec![task("T-1", json!({}))];
    let plan = yard.plan(json!({ "coder": { "command": ["sh", "vendor/lib/code"] } }), tasks, json!({}));
    yard.run(&["run", &plan, "--no-wait"]).says("coder works, attempt 1");
}
