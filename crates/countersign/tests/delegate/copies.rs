//! Audit entries that are not what the ledger has: another copy of the repository wrote them, or somebody changed them.

use super::*;

#[test]
fn each_copy_of_a_repository_reserves_ids_that_no_entry_there_has() {
    let (one, other) = (Shop::new(), Shop::new());
    let (_, first) = one.delegate(&one.branch(1, "x"));
    let path = first["AUDIT_ENTRY_PATH"].as_str().unwrap();
    let kept = one.house.read(path);
    other.house.write(path, &kept);
    for (number, name) in [(2, "y"), (3, "z")] {
        let file = other.branch(number, name);
        let (answer, response) = other.delegate(&file);
        assert_eq!((answer.code, &response["STATUS"]), (0, &json!("SUCCESS")), "{answer:?}");
        for id in ["RESPONSE_ID", "AUDIT_ENTRY_ID"] {
            assert!(response[id].as_str().unwrap().ends_with(&format!("-{number:03}")), "{response:#}");
        }
        other.passes(&file, &response, true);
    }
    assert_eq!(other.house.read(path), kept);
    assert_eq!(other.house.run(&["verify"]).code, 0);
}

#[test]
fn an_entry_that_was_changed_is_not_overwritten() {
    let shop = Shop::new();
    let file = shop.branch(1, "fix");
    let (_, response) = shop.delegate(&file);
    let path = response["AUDIT_ENTRY_PATH"].as_str().unwrap();
    let kept = shop.house.read(path);
    shop.house.write(path, kept.replace("refs/heads/fix", "refs/heads/fox"));
    let (answer, _) = shop.delegate(&file);
    assert_eq!((answer.code, answer.out.as_str()), (3, ""), "{answer:?}");
    std::fs::remove_file(shop.house.path(path)).unwrap();
    assert_eq!(shop.delegate(&file).1, response);
    assert_eq!(shop.house.read(path), kept);
}

#[test]
fn where_its_entry_would_lie_outside_nothing_is_done() {
    let shop = Shop::new();
    let outside = tempfile::tempdir().unwrap();
    let file = shop.branch(1, "fix");
    for target in [outside.path().to_owned(), outside.path().join("nothing")] {
        std::os::unix::fs::symlink(target, shop.house.path(".evidence")).unwrap();
        let (answer, response) = shop.delegate(&file);
        assert_eq!((answer.code, response), (3, Value::Null), "{answer:?}");
        assert!(!shop.has("refs/heads/fix"));
        assert_eq!((shop.events("delegation.received"), std::fs::read_dir(outside.path()).unwrap().count()), (0, 0));
        std::fs::remove_file(shop.house.path(".evidence")).unwrap();
    }
    std::fs::write(shop.house.path(".evidence"), "no folder").unwrap();
    let (answer, _) = shop.delegate(&file);
    assert_eq!((answer.code, shop.has("refs/heads/fix")), (3, false), "{answer:?}");
    assert!(answer.err.contains("is no folder; nothing was done"), "{answer:?}");
    std::fs::remove_file(shop.house.path(".evidence")).unwrap();
    let (answer, response) = shop.delegate(&file);
    assert_eq!(answer.code, 0, "{answer:?}");
    // What was done before is not said to be undone, wherever its entry lies by now.
    let moved = outside.path().join("evidence");
    std::fs::rename(shop.house.path(".evidence"), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, shop.house.path(".evidence")).unwrap();
    let (answer, again) = shop.delegate(&file);
    assert_eq!((answer.code, again), (0, response), "{answer:?}");
}

#[test]
fn copies_that_counted_alike_are_found_when_they_meet_and_both_entries_are_kept() {
    let (one, other) = (Shop::new(), Shop::new());
    let (_, first) = one.delegate(&one.branch(1, "x"));
    let file = other.branch(1, "y");
    let (_, second) = other.delegate(&file);
    let path = first["AUDIT_ENTRY_PATH"].as_str().unwrap();
    assert_eq!(second["AUDIT_ENTRY_PATH"], path, "neither has seen the other's");
    let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    for shop in [&one, &other] {
        shop.git(&["add", ".evidence"]);
        shop.git(&[&author[..], &["commit", "-qm", "an action"]].concat());
    }
    let doctor = |shop: &Shop, more: &[&str]| {
        let answer = shop.house.run(&[&["doctor"], more].concat());
        let line = answer.out.lines().find(|line| line.contains("audit entries")).unwrap_or_default().to_owned();
        (answer.code, line)
    };
    assert_eq!(doctor(&other, &[]).0, 0);
    // Git cannot merge the two, and says so; a file that is half of each is no entry.
    other.git(&["fetch", "-q", &one.house.path("").display().to_string(), "main"]);
    let merge = ["merge", "-q", "--allow-unrelated-histories", "--no-edit", "FETCH_HEAD"];
    let merged = Command::new("git").args(author).args(merge).current_dir(other.house.path("")).output().unwrap();
    assert!(!merged.status.success(), "{merged:?}");
    let (code, said) = doctor(&other, &["--fix"]);
    assert!(code == 1 && said.contains("a merge stopped in the middle of it"), "{said}");
    // With the other's entry in its place, the own one is missed, and kept beside it.
    other.git(&["checkout", "-q", "--theirs", path]);
    let theirs = other.house.read(path);
    let (code, said) = doctor(&other, &[]);
    assert!(code == 1 && said.contains("gave the same number") && said.contains("doctor --fix"), "{said}");
    let (answer, _) = other.delegate(&file);
    assert!(answer.code == 3 && answer.err.contains("doctor --fix"), "{answer:?}");
    let (code, said) = doctor(&other, &["--fix"]);
    assert!(code == 0 && said.starts_with("fixed"), "{said}");
    assert_eq!(doctor(&other, &[]).0, 0);
    assert_eq!((other.delegate(&file).1, other.house.read(path)), (second, theirs));
    let checked = other.house.run(&["check", ".evidence"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    // The one whose entry lies in its place has nothing to do.
    other.git(&["add", "-A", ".evidence"]);
    other.git(&[&author[..], &["commit", "-qm", "both"]].concat());
    one.git(&["pull", "-q", "--no-rebase", &other.house.path("").display().to_string(), "main"]);
    assert_eq!(doctor(&one, &[]).0, 0);
}
