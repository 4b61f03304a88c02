//! Where work lands: in the user's tree, whatever the user does meanwhile, and wherever the project is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod run_support;

use run_support::{Going, Yard, task, wait_for};
use serde_json::{Value, json};

/// A run whose agent waits until it may go on, so that the user can do something meanwhile.
fn while_it_works(yard: &Yard, script: &str, patch: Value) -> Going {
    in_plan(yard, script, patch, json!({}))
}

fn in_plan(yard: &Yard, script: &str, patch: Value, more: Value) -> Going {
    let script = format!(
        "touch $COUNTERSIGN_HOME/on; while [ ! -e $COUNTERSIGN_HOME/go ]; do sleep 0.02; done; \
         echo ran >> $COUNTERSIGN_HOME/ran; {script}"
    );
    let plan = yard.plan(json!({ "coder": yard.agent(&script) }), vec![task("T-1", patch)], more);
    let going = yard.start(&["run", &plan]);
    wait_for("the agent", || yard.path("home/on").exists());
    going
}

fn go(yard: &Yard) {
    std::fs::write(yard.path("home/go"), "").unwrap();
}

fn ran(yard: &Yard) -> usize {
    std::fs::read_to_string(yard.path("home/ran")).unwrap().lines().count()
}

const START: &str = "echo mine > src/start; claim src/start";

fn of_start() -> Value {
    let acceptance =
        json!([{ "text": "it is mine", "check": { "file": { "path": "src/start", "contains": "mine" } } }]);
    json!({ "lock_scope": ["src/start"], "acceptance": acceptance })
}

#[test]
fn work_that_a_change_of_the_user_is_in_the_way_of_waits_and_is_not_done_again() {
    let yard = Yard::new();
    let going = while_it_works(&yard, START, of_start());
    yard.write("src/start", "the user's\n");
    go(&yard);
    let answer = going.end();
    answer.says("src/start has changes that are not committed").says("task unblock T-1");
    assert_eq!((answer.code, yard.read("src/start").as_deref()), (1, Some("the user's\n")));
    yard.git(&["checkout", "--", "src/start"]);
    yard.decide(&["task", "unblock", "T-1", "--reason", "it is put aside"]).ended(0);
    yard.resume().ended(0);
    assert_eq!((ran(&yard), yard.read("src/start").as_deref()), (1, Some("mine\n")));
    yard.is_tidy();
}

#[test]
fn work_that_conflicts_with_a_commit_names_both_sides_and_is_done_anew() {
    let yard = Yard::new();
    let going = while_it_works(&yard, START, of_start());
    yard.write("src/start", "the user's\n");
    yard.commit_and_accept("the user was faster");
    go(&yard);
    let answer = going.end();
    answer.says("src/start cannot be merged").says("the user was faster").says("by T-1 in").says("task unblock T-1");
    assert_eq!((answer.code, yard.read("src/start").as_deref()), (1, Some("the user's\n")));
    assert_eq!(yard.asked()["asks"], "conflict");
    // The answer counts for what is shown, and once.
    let (token, mark) = (yard.owner_token(), yard.asked()["shown"].as_str().unwrap().to_owned());
    let inbox = yard.run(&["inbox"]).ended(0);
    assert!(inbox.contains(&format!("task unblock T-1 --reason TEXT --shown {mark} --run ")), "{inbox}");
    let answer = |shown: &[&str]| {
        let said = ["task", "unblock", "T-1", "--reason", "do it on top of mine", "--token-file", &token];
        yard.run(&[&said[..], shown].concat())
    };
    answer(&[]).says("MISSING_REQUIRED_INPUT").says("countersign inbox").ended_with(1);
    answer(&["--shown", "0123456789abcdef.29913563"])
        .says("INTEGRITY_MISMATCH")
        .says("countersign inbox")
        .ended_with(1);
    answer(&["--shown", &mark]).ended_with(0);
    answer(&["--shown", &mark]).says("INTEGRITY_MISMATCH").says("it was answered already").ended_with(1);
    yard.resume().ended(0);
    assert_eq!((ran(&yard), yard.read("src/start").as_deref()), (2, Some("mine\n")));
    assert_eq!(yard.landed(), ["T-1"]);
    yard.is_tidy();
}

#[test]
fn what_holds_by_itself_and_not_on_top_of_others_does_not_land() {
    // The words of the file must not be those of the other one: no merge conflicts, and yet both together are wrong.
    let check = json!({ "command": ["sh", "-c", "! cmp -s src/start src/other"] });
    let apart =
        json!({ "lock_scope": ["src/start"], "retries": 0, "acceptance": [{ "text": "they differ", "check": check }] });
    for (gates, code, lands) in [(json!({}), 1, 0), (json!({ "gates": { "recheck": false } }), 0, 1)] {
        let yard = Yard::new();
        let going = in_plan(&yard, START, apart.clone(), gates);
        yard.write("src/other", "mine\n");
        yard.commit_and_accept("the same words elsewhere");
        go(&yard);
        let answer = going.end();
        assert_eq!((answer.code, yard.landed().len()), (code, lands), "{}", answer.out);
        let bound = |kind: &str| {
            let of = |it: &Value| it["kind"] == kind;
            yard.events().iter().filter(|it| of(it)).map(|it| it["facts"].clone()).collect::<Vec<_>>()
        };
        let stale = bound("gate.stale");
        if lands == 1 {
            assert!(stale.is_empty());
            continue;
        }
        answer
            .says("it is checked once more on top of")
            .says("AC-1 held, and does not on top of what has landed since");
        let merged = stale[0]["found"].as_str().unwrap();
        let looked = bound("evidence.collected");
        assert_eq!((looked.len(), looked[1]["bound"].as_str()), (2, Some(merged)), "{looked:?}");
        assert_eq!(yard.read("src/start").as_deref(), Some("start\n"));
        // Whoever does it anew does so on top of the other one.
        std::fs::remove_file(yard.root().join("src/other")).unwrap();
        yard.commit_and_accept("the user gives way");
        yard.decide(&["task", "unblock", "T-1", "--reason", "try again"]).ended(0);
        yard.resume().ended(0);
        assert_eq!(yard.landed(), ["T-1"]);
        yard.is_tidy();
    }
}

#[test]
fn what_lands_on_top_of_others_is_the_commit_that_was_checked() {
    let yard = Yard::new();
    let going = while_it_works(&yard, START, of_start());
    yard.write("notes", "committed meanwhile\n");
    yard.commit_and_accept("notes");
    go(&yard);
    going.end().ended(0);
    let head = yard.git(&["rev-parse", "HEAD"]);
    let events = yard.events();
    let looked: Vec<&Value> = events.iter().filter(|it| it["kind"] == "evidence.collected").collect();
    assert_eq!((looked.len(), looked[1]["facts"]["bound"].as_str()), (2, Some(head.as_str())), "{looked:?}");
}

#[test]
fn what_the_user_does_elsewhere_stays_and_is_in_nobodys_way() {
    let yard = Yard::new();
    let going = while_it_works(&yard, START, of_start());
    yard.write("notes", "committed meanwhile\n");
    yard.commit_and_accept("notes");
    yard.write("tests/t.sh", "not committed\n");
    yard.write("new", "not even known to git\n");
    go(&yard);
    going.end().ended(0);
    assert_eq!(yard.read("src/start").as_deref(), Some("mine\n"));
    assert_eq!(yard.read("notes").as_deref(), Some("committed meanwhile\n"));
    assert_eq!(yard.git(&["status", "--porcelain"]), "M tests/t.sh\n?? new");
    assert_eq!(yard.landed(), ["T-1"]);
    assert_eq!(yard.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[test]
fn a_project_in_a_folder_of_the_repository_lands_there() {
    let yard = Yard::at("deep/inside");
    let answer = yard.one(json!({ "coder": yard.honest() }), json!({}), json!({}));
    answer.ended(0);
    assert_eq!(yard.git(&["show", "--name-only", "--format=", "HEAD"]), "deep/inside/src/T-1");
    yard.is_tidy();
    // What is outside of the project's folder is outside of every scope.
    let escaping = yard.agent("echo x > src/T-1; echo x > ../outside; claim src/T-1");
    std::fs::remove_file(yard.root().join("src/T-1")).unwrap();
    yard.commit("once more");
    let answer = yard.one(json!({ "coder": escaping }), json!({ "retries": 0 }), json!({}));
    assert_eq!(answer.code, 1, "{}", answer.out);
    answer.says("outside");
}

#[test]
fn a_folder_without_git_is_worked_in_itself() {
    let yard = Yard::plain();
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "depends_on": ["T-1"] }))];
    let plan = yard.plan(json!({ "coder": yard.honest() }), tasks, json!({}));
    yard.run(&["run", &plan]).ended(0);
    assert_eq!(yard.read("src/T-1").as_deref(), Some("T-1\n"));
    assert_eq!(yard.count("task.completed", "T-2"), 1);
    yard.run(&["verify"]).ended(0);
    // What needs a commit says so.
    std::fs::remove_file(yard.root().join("src/T-1")).unwrap();
    let acceptance = json!([{ "text": "t", "check": { "test": ["sh", "tests/t.sh"] }, "pin": "tests/t.sh" }]);
    let answer =
        yard.one(json!({ "coder": yard.honest() }), json!({ "retries": 0, "acceptance": acceptance }), json!({}));
    answer.says("criterion 1 of T-1 asks for `pin`").says("in a git repository alone").says("git init");
    assert_eq!((answer.code, yard.runs().len()), (3, 1));
}

#[test]
fn a_repository_without_a_commit_says_what_to_do_and_nothing_is_begun() {
    let yard = Yard::bare("");
    yard.git(&["init", "--quiet", "--initial-branch=main"]);
    yard.init();
    let answer = yard.one(json!({ "coder": yard.honest() }), json!({}), json!({}));
    answer.says("the repository has no commit yet").says("git commit");
    assert_eq!((answer.code, yard.runs()), (3, Vec::new()));
    yard.commit("the first");
    yard.one(json!({ "coder": yard.honest() }), json!({}), json!({})).ended(0);
    assert_eq!(yard.landed(), ["T-1"]);
}

#[test]
fn without_a_repository_what_is_changed_outside_the_scope_is_seen() {
    let write = "mkdir -p src; echo x > $scope; ";
    let cases = [
        ("nothing else", format!("{write}claim $scope"), 0, "T-1: done (verified)"),
        ("something else", format!("{write}echo x > other; claim $scope"), 1, "changed outside the scope: other"),
        ("another file", format!("{write}echo x > src/start; claim $scope"), 1, "changed outside the scope: src/start"),
        ("what is ignored", format!("{write}mkdir cache; echo x > cache/a; claim $scope"), 0, "T-1: done (verified)"),
        ("not declared", format!("{write}claim"), 0, "note: changed, and not declared: src/T-1"),
    ];
    for (what, script, code, words) in cases {
        let yard = Yard::plain();
        yard.write(".gitignore", "cache\n");
        let answer = yard.one(json!({ "coder": yard.agent(&script) }), json!({ "retries": 0 }), json!({}));
        assert_eq!(answer.code, code, "{what}: {answer:?}");
        answer.says(words);
        if code == 1 {
            assert_eq!(yard.asked()["code"], "SCOPE_VIOLATION", "{what}");
        }
    }
    // Where two work at once, either can have done it.
    let yard = Yard::plain();
    let one = "while [ ! -e $COUNTERSIGN_HOME/on ]; do sleep 0.02; done; mkdir -p src; echo x > other; echo x > $scope; \
               touch $COUNTERSIGN_HOME/done; claim $scope";
    let two = "touch $COUNTERSIGN_HOME/on; while [ ! -e $COUNTERSIGN_HOME/done ]; do sleep 0.02; done; mkdir -p src; \
               echo x > $scope; claim $scope";
    let tasks = vec![task("T-1", json!({})), task("T-2", json!({ "agent": "second" }))];
    let agents = json!({ "coder": yard.agent(one), "second": yard.agent(two) });
    let answer = yard.run(&["run", &yard.plan(agents, tasks, json!({ "concurrency": 2 }))]);
    answer.says("T-1: note: changed outside of every scope, by one of T-1, T-2: other");
    answer.says("T-2: note: changed outside of every scope, by one of T-2, T-1: other");
    answer.ended(0);
}

/// What is done once, the first time that an agent is begun.
fn once(first: &str) -> String {
    format!(
        "mkdir -p src; if [ ! -e $COUNTERSIGN_HOME/once ]; then touch $COUNTERSIGN_HOME/once; {first}; fi; \
         touch $COUNTERSIGN_HOME/again; echo x > $scope; claim $scope"
    )
}

/// A person is asked about what lies outside of the scope, nobody was begun again, and what they accept may stay.
#[track_caller]
fn is_found_and_can_be_accepted(yard: &Yard, what: &str) {
    let asked = yard.asked();
    assert_eq!(asked["code"], "SCOPE_VIOLATION", "{what}: {asked}");
    assert!(asked["reason"].as_str().unwrap().contains("changed outside the scope: other"), "{what}: {asked}");
    assert!(!yard.path("home/again").exists(), "{what}");
    let run = yard.look("run.show", json!({ "run_id": yard.runs()[0] }));
    assert_eq!(run["metrics"]["denials"], json!({ "SCOPE_VIOLATION": 1 }), "{what}: {run}");
    yard.accept(asked["content"].as_str().unwrap());
    yard.resume().ended(0);
    assert_eq!(yard.count("task.completed", "T-1"), 1, "{what}");
    assert!(!yard.root().join(".countersign/runs").join(&yard.runs()[0]).exists(), "{what}: files are left");
}

#[test]
fn without_a_repository_what_a_failed_attempt_changed_is_not_forgotten() {
    for (what, first) in [
        ("it fails", "echo x > other; exit 1"),
        ("it says nothing", "echo x > other; exit 0"),
        ("what it says is no result", "echo x > other; echo done; exit 0"),
    ] {
        let yard = Yard::plain();
        let answer = yard.one(json!({ "coder": yard.agent(&once(first)) }), json!({ "retries": 2 }), json!({}));
        assert_eq!(answer.code, 1, "{what}: {answer:?}");
        is_found_and_can_be_accepted(&yard, what);
    }
    // One that keeps to its scope is tried again.
    let yard = Yard::plain();
    yard.one(json!({ "coder": yard.agent(&once("exit 1")) }), json!({ "retries": 2 }), json!({})).ended(0);
    assert_eq!(yard.count("task.claimed", "T-1"), 2);
}

#[test]
fn without_a_repository_what_an_attempt_changed_that_was_cut_short_is_not_forgotten() {
    for signal in ["-KILL", "-TERM"] {
        for strays in [true, false] {
            let what = format!("{signal}, {strays}");
            let yard = Yard::plain();
            let stray = if strays { "echo x > other" } else { "echo x > $scope" };
            let first = format!("{stray}; touch $COUNTERSIGN_HOME/hangs; sleep 600");
            let plan =
                yard.plan(json!({ "coder": yard.agent(&once(&first)) }), vec![task("T-1", json!({}))], json!({}));
            let going = yard.start(&["run", &plan]);
            wait_for("the agent", || yard.path("home/hangs").exists());
            if signal == "-KILL" {
                going.kill();
            } else {
                going.signal(signal);
                going.end();
            }
            let answer = yard.resume();
            assert_eq!(answer.code, i32::from(strays), "{what}: {answer:?}");
            if strays {
                is_found_and_can_be_accepted(&yard, &what);
            }
        }
    }
}

#[test]
fn without_a_repository_what_one_of_two_changed_is_told_of_the_next_attempt_too() {
    let yard = Yard::plain();
    let first = "while [ ! -e $COUNTERSIGN_HOME/on ]; do sleep 0.02; done; echo x > other; exit 1";
    let two = "touch $COUNTERSIGN_HOME/on; while [ ! -e $COUNTERSIGN_HOME/again ]; do sleep 0.02; done; mkdir -p src; \
               echo x > $scope; claim $scope";
    let tasks = vec![task("T-1", json!({ "retries": 2 })), task("T-2", json!({ "agent": "second" }))];
    let agents = json!({ "coder": yard.agent(&once(first)), "second": yard.agent(two) });
    let answer = yard.run(&["run", &yard.plan(agents, tasks, json!({ "concurrency": 2 }))]);
    answer.says("T-1: note: changed outside of every scope, by one of T-1, T-2: other");
    answer.ended(0);
    assert_eq!(yard.count("task.claimed", "T-1"), 2);
}

#[test]
fn work_lands_on_a_head_that_is_on_no_branch() {
    let yard = Yard::new();
    let main = yard.git(&["rev-parse", "main"]);
    yard.git(&["checkout", "--quiet", "--detach"]);
    yard.one(json!({ "coder": yard.honest() }), json!({}), json!({})).ended(0);
    assert_eq!((yard.landed(), yard.git(&["rev-parse", "main"])), (vec!["T-1".to_owned()], main));
    yard.is_tidy();
}

#[test]
fn tasks_land_in_the_order_of_the_plan_and_build_on_those_that_they_depend_on() {
    let yard = Yard::new();
    let script = "[ \"$COUNTERSIGN_TASK\" = T-1 ] || cat src/T-1 > /dev/null || exit 7; echo x > $scope; claim $scope";
    let after = json!({ "depends_on": ["T-1"] });
    let tasks = vec![task("T-1", json!({})), task("T-2", after.clone()), task("T-3", after)];
    let plan = yard.plan(json!({ "coder": yard.agent(script) }), tasks, json!({ "concurrency": 3 }));
    yard.run(&["run", &plan]).ended(0);
    assert_eq!(yard.landed().last().map(String::as_str), Some("T-1"));
    assert_eq!(yard.landed().len(), 3);
    yard.is_tidy();
}

/// T-4 lands first. T-3 is held up while its checks run once more on top of that; T-2 and then T-1 come to wait behind it.
#[test]
fn whoever_waits_lands_by_the_order_of_the_plan_and_not_by_who_was_ready_first() {
    let yard = Yard::new();
    let home = yard.path("home");
    let at = |name: &str| home.join(name).display().to_string();
    let script =
        "while [ ! -e $COUNTERSIGN_HOME/go-$COUNTERSIGN_TASK ]; do sleep 0.02; done; echo x > $scope; claim $scope";
    let held = format!(
        "if [ -e src/T-4 ]; then touch '{}'; while [ ! -e '{}' ]; do sleep 0.02; done; fi; test -f src/T-3",
        at("again"),
        at("go-again")
    );
    let check = json!([{ "text": "it is there", "check": { "command": ["sh", "-c", held] } }]);
    let tasks = vec![
        task("T-1", json!({})),
        task("T-2", json!({})),
        task("T-3", json!({ "acceptance": check })),
        task("T-4", json!({})),
    ];
    let plan = yard.plan(json!({ "coder": yard.agent(script) }), tasks, json!({ "concurrency": 4 }));
    let mut going = yard.start(&["run", &plan]);
    let go = |name: &str| std::fs::write(home.join(format!("go-{name}")), "").unwrap();
    go("T-4");
    going.until("T-4: done (");
    go("T-3");
    run_support::wait_for("the second look", || home.join("again").exists());
    go("T-2");
    going.until("T-2: waits to land, after T-3");
    go("T-1");
    going.until("T-1: waits to land, after T-3");
    go("again");
    going.end().ended(0);
    // The last comes first.
    assert_eq!(yard.landed(), ["T-2", "T-1", "T-3", "T-4"]);
    yard.is_tidy();
}

#[test]
fn work_does_not_land_on_another_branch_unless_a_person_says_so() {
    for back in [true, false] {
        let yard = Yard::new();
        let going = while_it_works(&yard, START, of_start());
        yard.git(&["checkout", "--quiet", "-b", "other"]);
        go(&yard);
        let answer = going.end();
        answer.says("`other` is checked out, and the run began on `main`").says("task unblock T-1");
        assert_eq!((answer.code, yard.landed().len()), (1, 0));
        if back {
            yard.git(&["checkout", "--quiet", "main"]);
        }
        yard.decide(&["task", "unblock", "T-1", "--reason", "land it here"]).ended_with(0);
        yard.resume().ended(0);
        assert_eq!((yard.landed().len(), ran(&yard)), (1, 1));
        assert_eq!(yard.git(&["rev-parse", "main"]) == yard.git(&["rev-parse", "HEAD"]), back);
    }
}

#[test]
fn whoever_goes_on_with_a_run_remembers_its_branch() {
    let yard = Yard::new();
    let going = while_it_works(&yard, START, of_start());
    going.kill();
    yard.git(&["checkout", "--quiet", "-b", "other"]);
    go(&yard);
    let answer = yard.resume();
    answer.says("`other` is checked out, and the run began on `main`").says("task unblock T-1").ended_with(1);
    assert_eq!(yard.landed().len(), 0);
    // Who has answered is not asked again, whoever goes on.
    yard.decide(&["task", "unblock", "T-1", "--reason", "land it here"]).ended_with(0);
    yard.resume().ended(0);
    assert_eq!(yard.landed().len(), 1);
}

/// A git that does something else than the real one, `"$real" "$@"`, when it is to write the files that land.
fn strange_git(yard: &Yard, instead: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    let is_git = |folder: &&str| std::path::Path::new(folder).join("git").is_file();
    let real = format!("{}/git", path.split(':').find(is_git).unwrap());
    let script = format!(
        "#!/bin/sh\nreal={real}\ncase \"$*\" in *'read-tree -m -u'*) {instead};; esac\nexec \"$real\" \"$@\"\n"
    );
    std::fs::create_dir_all(yard.path("bin")).unwrap();
    std::fs::write(yard.path("bin/git"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(yard.path("bin/git"), mode).unwrap();
    format!("{}:{path}", yard.path("bin").display())
}

#[test]
fn why_files_could_not_be_written_is_said_and_not_only_what_that_led_to() {
    let yard = Yard::new();
    let once = yard.path("once").display().to_string();
    // What git does in a folder in which it may not write: the second time it stumbles over what it wrote the first time.
    let path = strange_git(
        &yard,
        &format!(
            "if [ -e {once} ]; then echo 'error: src/T-1 would be overwritten' >&2; else touch {once}; \
             echo 'error: unable to create file src/T-1: Permission denied' >&2; fi; exit 128"
        ),
    );
    let plan = yard.plan(json!({ "coder": yard.honest() }), vec![task("T-1", json!({}))], json!({}));
    let answer = yard.run_with(&["run", &plan], &[("PATH", &path)]);
    answer.says("unable to create file src/T-1: Permission denied").says("nothing has landed");
    assert_eq!((answer.code, yard.landed().len()), (1, 0));
    yard.decide(&["task", "unblock", "T-1", "--reason", "it may write there now"]).ended_with(0);
    yard.resume().ended(0);
    yard.is_tidy();
}

#[test]
fn a_file_that_could_not_be_removed_is_named_and_nothing_lands() {
    let yard = Yard::new();
    // Git only warns of a file that it may not remove.
    let path =
        strange_git(&yard, "\"$real\" \"$@\" && mkdir -p src && \"$real\" show HEAD:src/start > src/start; exit");
    let agents = json!({ "coder": yard.agent("rm src/start; claim src/start") });
    let gone = json!([{ "text": "it is gone", "check": { "command": ["test", "!", "-e", "src/start"] } }]);
    let patch = json!({ "lock_scope": ["src/start"], "acceptance": gone });
    let plan = yard.plan(agents, vec![task("T-1", patch)], json!({}));
    let answer = yard.run_with(&["run", &plan], &[("PATH", &path)]);
    answer.says("src/start could not be removed; nothing has landed");
    assert_eq!((answer.code, yard.landed().len()), (1, 0));
    yard.decide(&["task", "unblock", "T-1", "--reason", "it can be removed now"]).ended_with(0);
    yard.resume().ended(0);
    assert_eq!(yard.read("src/start"), None);
    yard.is_tidy();
}
