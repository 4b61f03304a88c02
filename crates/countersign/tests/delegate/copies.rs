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
