//! Files, and what was changed.

use crate::check;
use countersign_contract::serde_json::{Value, json};
use countersign_contract::sha256_hex;
use countersign_runner::evidence::{Evidence, Site, Status, collect};
use std::os::unix::fs::symlink;
use std::path::Path;

fn look(folder: &Path, file: Value) -> Evidence {
    collect(&check(&json!({ "file": file })), &Site::at(folder))
}

#[test]
fn a_file_must_be_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("a.txt", "hello world");
    put("a.json", r#"{"n": 1.0, "list": [{"a/b": "x"}], "none": null}"#);
    put("a.yaml", "n: 1\n");
    put("twice.json", r#"{"n": 1, "n": 2}"#);
    put("ids.json", r#"{"id": -1234567890123456789, "name": "x 1e400", "more": [1, 1e400]}"#);
    put("odd.json", r#"{"n": 01234567890123456789}"#);
    put("broken.json", "{");
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let hash = sha256_hex(b"hello world");
    let cases = [
        (json!({ "path": "a.txt" }), Status::Pass, "11 bytes"),
        (json!({ "path": "./folder/../a.txt" }), Status::Pass, ""),
        (json!({ "path": "absent" }), Status::Fail, "is not there"),
        (json!({ "path": "absent", "exists": false }), Status::Pass, ""),
        (json!({ "path": "a.txt", "exists": false }), Status::Fail, "must not be"),
        (json!({ "path": "folder", "exists": false }), Status::Fail, "must not be"),
        (json!({ "path": "folder" }), Status::Fail, "no file"),
        (json!({ "path": "a.txt", "min_size": 11, "max_size": 11 }), Status::Pass, ""),
        (json!({ "path": "a.txt", "min_size": 12 }), Status::Fail, "at least 12"),
        (json!({ "path": "a.txt", "max_size": 10 }), Status::Fail, "at most 10"),
        (json!({ "path": "a.txt", "sha256": hash }), Status::Pass, ""),
        (json!({ "path": "a.txt", "sha256": "0".repeat(64) }), Status::Fail, "SHA-256"),
        (json!({ "path": "a.txt", "contains": ["hello", "world"] }), Status::Pass, ""),
        (json!({ "path": "a.txt", "contains": ["hello", "moon"] }), Status::Fail, "`moon`"),
        (json!({ "path": "a.txt", "not_contains": "moon" }), Status::Pass, ""),
        (json!({ "path": "a.txt", "not_contains": ["moon", "world"] }), Status::Fail, "`world`"),
        (json!({ "path": "a.json", "json_pointer": "/n", "equals": 1 }), Status::Pass, ""),
        (json!({ "path": "a.json", "json_pointer": "/n", "equals": "1" }), Status::Fail, "must have"),
        (json!({ "path": "a.json", "json_pointer": "/list/0/a~1b", "equals": "x" }), Status::Pass, ""),
        (json!({ "path": "a.json", "json_pointer": "/list", "equals": [{ "a/b": "x" }] }), Status::Pass, ""),
        (json!({ "path": "a.json", "json_pointer": "/none" }), Status::Pass, ""),
        (json!({ "path": "a.json", "json_pointer": "/none", "equals": null }), Status::Pass, ""),
        (json!({ "path": "a.json", "json_pointer": "/n", "equals": null }), Status::Fail, "must have `null`"),
        (json!({ "path": "a.json", "json_pointer": "/list/00" }), Status::Fail, "nothing at"),
        (json!({ "path": "a.json", "json_pointer": "/list/+0" }), Status::Fail, "nothing at"),
        (json!({ "path": "a.json", "json_pointer": "/list/1" }), Status::Fail, "nothing at"),
        (json!({ "path": "a.json", "json_pointer": "n", "equals": 1 }), Status::Fail, "no JSON pointer"),
        (json!({ "path": "a.yaml", "json_pointer": "/n", "equals": 1 }), Status::Pass, ""),
        // Long ids beside it are no fault, and can be told as they are written.
        (json!({ "path": "ids.json", "json_pointer": "/name", "equals": "x 1e400" }), Status::Pass, ""),
        (json!({ "path": "ids.json", "json_pointer": "/id", "equals": "-1234567890123456789" }), Status::Pass, ""),
        (json!({ "path": "ids.json", "json_pointer": "/more/1", "equals": "1e400" }), Status::Pass, ""),
        (json!({ "path": "ids.json", "json_pointer": "/more/0", "equals": 1 }), Status::Pass, ""),
        (json!({ "path": "odd.json", "json_pointer": "/n" }), Status::Fail, "cannot be read"),
        (json!({ "path": "twice.json", "json_pointer": "/n", "equals": 2 }), Status::Fail, "cannot be read"),
        (json!({ "path": "broken.json", "json_pointer": "/n", "equals": 2 }), Status::Fail, "cannot be read"),
        (json!({ "path": "a/../../a", "exists": false }), Status::Blocked, "no place"),
    ];
    for (file, status, says) in cases {
        let evidence = look(folder.path(), file.clone());
        assert_eq!(evidence.status, status, "{file}: {}", evidence.says);
        assert!(evidence.says.contains(says), "{file}: {}", evidence.says);
    }
    let seen = look(folder.path(), json!({ "path": "a.txt" })).file.unwrap();
    assert_eq!((seen.exists, seen.size_bytes, seen.sha256), (true, Some(11), Some(hash)));
}

#[test]
fn a_link_that_leads_out_is_neither_followed_nor_nothing() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("a"), "hello").unwrap();
    symlink(outside.path().join("a"), folder.path().join("file")).unwrap();
    symlink(outside.path(), folder.path().join("folder")).unwrap();
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    for path in ["file", "folder/a", "dangling"] {
        for wanted in [json!({ "path": path, "contains": "hello" }), json!({ "path": path, "exists": false })] {
            let evidence = look(folder.path(), wanted.clone());
            assert_eq!(evidence.status, Status::Fail, "{wanted}: {}", evidence.says);
            assert_eq!(evidence.file.unwrap().sha256, None);
        }
    }
}

#[test]
fn a_file_that_is_too_large_is_not_judged_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("large")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    assert_eq!(look(folder.path(), json!({ "path": "large", "min_size": 1 })).status, Status::Pass);
    assert_eq!(look(folder.path(), json!({ "path": "large", "max_size": 1 })).status, Status::Fail);
    for wanted in
        [json!({ "path": "large", "not_contains": "x" }), json!({ "path": "large", "sha256": "0".repeat(64) })]
    {
        assert_eq!(look(folder.path(), wanted).status, Status::Blocked);
    }
}

#[test]
fn what_changed_must_be_declared_and_inside_the_scope() {
    let list = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    // What changed, what was declared, the scope, what is forbidden.
    let cases = [
        ("src/a src/b", "src/b ./src/a", "src", "", Status::Pass, "2 resources"),
        ("", "", "src", "", Status::Pass, "0 resources"),
        ("src/a src/b", "src/a", "src", "", Status::Fail, "changed, and not declared: `src/b`"),
        ("src/a", "src/a src/b", "src", "", Status::Fail, "declared, and not changed: `src/b`"),
        (
            "src/a",
            "src",
            "src",
            "",
            Status::Fail,
            "changed, and not declared: `src/a`; declared, and not changed: `src`",
        ),
        ("src2/a", "src2/a", "src", "", Status::Fail, "changed outside the scope: `src2/a`"),
        ("src/a", "src/a", "", "", Status::Fail, "changed outside the scope: `src/a`"),
        ("src/a", "src/a", ".", "src/a", Status::Fail, "changed, and forbidden: `src/a`"),
        ("src/a", "/etc/a", "src", "", Status::Blocked, "`/etc/a` is no resource"),
    ];
    for (changed, declared, scope, forbidden, status, says) in cases {
        let (changed, declared, scope, forbidden) = (list(changed), list(declared), list(scope), list(forbidden));
        let site = Site {
            changed: &changed,
            declared: &declared,
            scope: &scope,
            forbidden: &forbidden,
            ..Site::at(Path::new("."))
        };
        let evidence = collect(&check(&json!({ "diff": true })), &site);
        assert_eq!(evidence.status, status, "{}", evidence.says);
        assert!(evidence.says.contains(says), "{}", evidence.says);
    }
}
