//! What must not be seen: secrets, and what was erased.

use crate::house::Answer;
use crate::{TRACE, code, done, json_of, made, plan, project, send};
use serde_json::json;

#[test]
fn what_was_sent_can_be_erased_with_its_hash() {
    let house = project();
    plan(&house);
    let hash = made(&house, "planner", "builder", "h.json", &[])["payload_hash"].as_str().unwrap().to_owned();
    done(send(&house, "h.json", "planner"));
    let step = json_of(&done(house.run(&["handoff", "show", TRACE, "--format", "json"])));
    assert_eq!(step["payload_hash"], hash.as_str());
    let (event, token) = (step["step"]["sent"].to_string(), house.owner_token());
    done(house.run(&["erase", &event, "--reason", "asked for", "--token-file", &token]));
    let left = done(house.run(&["export"])).out + &done(house.run(&["log", "--format", "json"])).out;
    assert!(!left.contains(&hash["sha256:".len()..]), "the hash is gone too");
    let shown = json_of(&done(house.run(&["handoff", "show", TRACE, "--format", "json"])));
    assert!(shown["document"].is_null() && shown["step"]["target"] == "builder", "{shown}");
    // Everybody is told that it was erased, and nobody that it was damaged.
    let erased = "erased after it was sent";
    let said = done(house.run(&["handoff", "show", TRACE]));
    assert!(said.out.contains(erased), "{said:?}");
    let document = house.run(&["handoff", "show", TRACE, "--document"]);
    assert_eq!((document.code, document.out.as_str()), (1, ""), "{document:?}");
    assert!(document.err.contains(erased), "{document:?}");
    for arguments in [
        &["handoff", "receive", TRACE, "--as", "builder"][..],
        &["handoff", "receive", "h.json", "--as", "builder"],
        &["handoff", "check", "h.json"],
        &["handoff", "send", "h.json", "--as", "planner"],
    ] {
        let answer = house.run(&[arguments, &["--format", "json"]].concat());
        assert_eq!(code(&answer), "DEPENDENCY_NOT_MET", "{arguments:?}");
        assert!(json_of(&answer)["reason"].as_str().unwrap().contains(erased), "{arguments:?}: {answer:?}");
    }
    // What was erased is not brought back by sending it again.
    assert!(!done(house.run(&["export"])).out.contains(&hash["sha256:".len()..]));
}

#[test]
fn a_secret_is_in_no_document_name_or_output() {
    const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let house = project();
    std::fs::create_dir(house.path("out")).unwrap();
    let payload = json!({ "key": SECRET, "long": format!("{} {SECRET} ", "words and words ".repeat(900)) }).to_string();
    let made = house.run_with(
        &[
            "handoff",
            "make",
            "--source",
            SECRET,
            "--target",
            "b",
            "--summary",
            SECRET,
            "--phase",
            SECRET,
            "--reason",
            SECRET,
            "--problem-type",
            "research",
            "--payload",
            "-",
            "--format",
            "json",
        ],
        &payload,
        &[],
    );
    let answer = json_of(&made);
    assert!(made.code == 0 && !answer["kept_at"].is_null(), "{made:?}");
    let file = answer["path"].as_str().unwrap();
    let sent = house.run(&["handoff", "send", file, "--as", "a"]);
    assert_eq!(sent.code, 0, "{sent:?}");
    let bare = crate::house::document("universal_handoff", json!({ "handoff": { "context": { "summary": SECRET } } }));
    house.write("out/bare.json", bare.to_string());
    let mut said: Vec<Answer> = ["check", "send", "receive"]
        .map(|verb| house.run(&["handoff", verb, "out/bare.json", "--as", "programming-pm"]))
        .into();
    assert!(said.iter().all(|answer| answer.code == 1), "{said:?}");
    std::fs::remove_file(house.path("out/bare.json")).unwrap();
    said.extend([made, sent, house.run(&["log"]), house.run(&["export"])]);
    for answer in said {
        assert!(!answer.out.contains(SECRET) && !answer.err.contains(SECRET), "{answer:?}");
    }
    for (path, bytes) in house.all() {
        let name = path.display().to_string();
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found && !name.contains(SECRET), "{name}");
    }
}
