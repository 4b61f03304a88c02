//! An action in its plain form, which is the same for every way in which it can be written.
//!
//! | written | plain |
//! |---|---|
//! | capitals in a repository, a commit, a label, or the name of a person or a team | none: platforms do not tell them apart |
//! | blanks around a text; a name twice in a list, and names in any order | none; once, in order |
//! | a field that the action does not have; nothing, no names, no inputs, or `false` where that is as good as nothing | nothing |
//! | a number of a run or a workflow | a text |
//! | `refs/heads/x` to run on, `owner:x` of the same owner to merge from | `x` |
//! | the message of a tag that has none; `completed` for the reason, which is what it is without one | nothing |
//! | an update that only closes | a closing |
//! | one issue blocks another | the other is blocked by it |
//!
//! Whoever compares actions compares these: a person's answer counts for what is done, not for how it is spelt.

use super::action::ActionType;
use super::parameters::{ProtectionRules, RequiredReviews, RequiredStatusChecks, Restrictions};
use serde_json::{Map, Value, json};

/// Where names stand of which capitals are no part.
const CASELESS: &[&str] = &["SOURCE_SHA", "TARGET_SHA", "LABELS", "ASSIGNEES", "REVIEWERS", "USERS", "TEAMS"];
/// What is as good as nothing where it is empty.
const OR_NONE: &[&str] = &["LABELS", "ASSIGNEES", "REVIEWERS", "INPUTS"];
/// What is as good as nothing where it is false.
const OR_FALSE: &[&str] = &["DRAFT", "DELETE_BRANCH", "ENFORCE_ADMINS"];

/// The repository of an instruction.
pub(super) fn repository(instruction: &Value) -> Value {
    name(&instruction["REQUESTER"]["REPOSITORY"])
}

/// A name of which capitals and the blanks around it are no part.
pub(super) fn name(given: &Value) -> Value {
    given.as_str().map_or_else(|| given.clone(), |text| json!(text.trim().to_lowercase()))
}

/// The action of an instruction.
pub(super) fn action(instruction: &Value) -> Value {
    let given = &instruction["ACTION"];
    let kind = given["TYPE"].as_str().and_then(ActionType::parse);
    let (Some(kind), Value::Object(parameters)) = (kind, &given["PARAMETERS"]) else { return given.clone() };
    let known = kind.info().parameters;
    let mut plain: Map<String, Value> = parameters
        .iter()
        .filter(|(name, _)| known.contains(&name.as_str()))
        .filter_map(|(name, value)| Some((name.clone(), parameter(name, value)?)))
        .collect();
    let kind = settle(kind, &mut plain, repository(instruction).as_str().unwrap_or_default());
    json!({ "TYPE": kind.as_str(), "PARAMETERS": plain })
}

/// What an action is done to, without how: what cannot be done twice, so that whoever does it in another way is in the way of who
/// waits to do it in this one. Where each is a thing of its own, such as a comment, that is all of it.
///
/// | action | what it is done to |
/// |---|---|
/// | a branch or a tag is made or deleted | the name |
/// | an issue or a pull request is closed, merged or approved; changes to it are asked for | the number |
/// | an update that closes, whatever else it changes | as a closing |
/// | a pull request is opened | from where to where |
/// | a branch is protected | the branch |
/// | a workflow is run | the workflow, and on what |
pub(super) fn deed(instruction: &Value) -> Value {
    let mut plain = action(instruction);
    let kind = plain["TYPE"].as_str().and_then(ActionType::parse);
    let parameters = plain.get_mut("PARAMETERS").and_then(Value::as_object_mut);
    let (Some(kind), Some(parameters)) = (kind, parameters) else { return plain };
    use ActionType::*;
    let closes = parameters.get("STATE").is_some_and(|state| state == "closed");
    let (kind, objects): (_, &[&str]) = match kind {
        CreateBranch | DeleteBranch | UpdateBranchProtection => (kind, &["BRANCH_NAME"]),
        CreateTag | DeleteTag => (kind, &["TAG_NAME"]),
        UpdateGithubIssue if closes => (CloseGithubIssue, &["ISSUE_NUMBER"]),
        UpdatePullRequest if closes => (ClosePullRequest, &["PR_NUMBER"]),
        CloseGithubIssue => (kind, &["ISSUE_NUMBER"]),
        ClosePullRequest | MergePullRequest | ApprovePr | RequestPrChanges => (kind, &["PR_NUMBER"]),
        CreatePullRequest => (kind, &["HEAD_BRANCH", "BASE_BRANCH"]),
        TriggerWorkflow => (kind, &["WORKFLOW_ID", "REF"]),
        _ => return plain,
    };
    parameters.retain(|name, _| objects.contains(&name.as_str()));
    plain["TYPE"] = json!(kind.as_str());
    plain
}

/// One parameter, or a part of one. None, if it is as good as nothing.
fn parameter(name: &str, value: &Value) -> Option<Value> {
    let text = |text: &str| {
        let text = text.trim();
        let text = if CASELESS.contains(&name) { text.to_lowercase() } else { text.to_owned() };
        match name {
            "REF" => text.strip_prefix("refs/heads/").unwrap_or(&text).to_owned(),
            _ => text,
        }
    };
    let plain = match value {
        Value::Null => return None,
        Value::Bool(false) if OR_FALSE.contains(&name) => return None,
        Value::String(given) => json!(text(given)),
        Value::Number(number) if matches!(name, "RUN_ID" | "WORKFLOW_ID") => json!(number.to_string()),
        Value::Array(items) => {
            let mut names: Vec<Value> =
                items.iter().map(|item| item.as_str().map_or_else(|| item.clone(), |it| json!(text(it)))).collect();
            names.sort_by_key(Value::to_string);
            names.dedup();
            Value::Array(names)
        }
        // What a workflow is given means what the workflow takes it for.
        Value::Object(_) if name == "INPUTS" => value.clone(),
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| is_rule(name));
            members.filter_map(|(name, value)| Some((name.clone(), parameter(name, value)?))).collect()
        }
        other => other.clone(),
    };
    let empty = plain.as_array().is_some_and(Vec::is_empty) || plain.as_object().is_some_and(Map::is_empty);
    (!(empty && OR_NONE.contains(&name))).then_some(plain)
}

/// Whether a field is part of what protects a branch, the one parameter with parts.
fn is_rule(name: &str) -> bool {
    let all = [ProtectionRules::FIELDS, RequiredStatusChecks::FIELDS, RequiredReviews::FIELDS, Restrictions::FIELDS];
    all.iter().any(|fields| fields.contains(&name))
}

/// What depends on several parameters at once. Gives what the action comes to.
fn settle(kind: ActionType, plain: &mut Map<String, Value>, repository: &str) -> ActionType {
    let is = |plain: &Map<String, Value>, name: &str, text: &str| plain.get(name).is_some_and(|it| it == text);
    if is(plain, "STATE_REASON", "completed") {
        plain.remove("STATE_REASON");
    }
    match kind {
        ActionType::CreateTag if is(plain, "TAG_TYPE", "lightweight") => {
            plain.remove("MESSAGE");
        }
        ActionType::CreatePullRequest => {
            let owner = repository.split('/').next().unwrap_or_default();
            let head = plain.get("HEAD_BRANCH").and_then(Value::as_str).and_then(|head| head.split_once(':'));
            if let Some((_, name)) = head.filter(|(of, _)| of.eq_ignore_ascii_case(owner)) {
                let name = json!(name);
                plain.insert("HEAD_BRANCH".to_owned(), name);
            }
        }
        ActionType::LinkIssues if is(plain, "RELATIONSHIP", "blocks") => {
            let source = plain.remove("SOURCE_ISSUE_NUMBER").unwrap_or_default();
            let target = plain.remove("TARGET_ISSUE_NUMBER").unwrap_or_default();
            plain.insert("SOURCE_ISSUE_NUMBER".to_owned(), target);
            plain.insert("TARGET_ISSUE_NUMBER".to_owned(), source);
            plain.insert("RELATIONSHIP".to_owned(), json!("blocked_by"));
        }
        ActionType::UpdateGithubIssue | ActionType::UpdatePullRequest
            if is(plain, "STATE", "closed") && !plain.contains_key("TITLE") && !plain.contains_key("BODY") =>
        {
            plain.remove("STATE");
            return match kind {
                ActionType::UpdateGithubIssue => ActionType::CloseGithubIssue,
                _ => ActionType::ClosePullRequest,
            };
        }
        _ => {}
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delegation::action::ACTIONS;

    #[test]
    fn each_field_that_is_treated_apart_is_one_of_some_action() {
        let nested =
            [RequiredStatusChecks::FIELDS, RequiredReviews::FIELDS, Restrictions::FIELDS, ProtectionRules::FIELDS];
        let known = |name: &&str| {
            ACTIONS.iter().any(|it| it.parameters.contains(name)) || nested.iter().any(|it| it.contains(name))
        };
        let names = [CASELESS, OR_NONE, OR_FALSE, &["REF", "RUN_ID", "WORKFLOW_ID"]].concat();
        assert!(names.iter().all(known));
    }

    #[test]
    fn a_deed_is_what_is_done_to_what_and_not_how() {
        let done =
            |kind: &str, parameters: Value| deed(&json!({ "ACTION": { "TYPE": kind, "PARAMETERS": parameters } }));
        let sha = |digit: &str| digit.repeat(40);
        let tag = |name: &str, sha: String, kind: &str| json!({ "TAG_NAME": name, "TARGET_SHA": sha, "TAG_TYPE": kind, "MESSAGE": "m" });
        let waiting = done("CREATE_TAG", tag("v1", sha("a"), "lightweight"));
        assert_eq!(waiting, done("CREATE_TAG", tag("v1", sha("A"), "annotated")));
        assert_eq!(waiting, done("CREATE_TAG", tag("v1", sha("b"), "lightweight")));
        assert_ne!(waiting, done("CREATE_TAG", tag("v2", sha("a"), "lightweight")));
        assert_ne!(waiting, done("DELETE_TAG", json!({ "TAG_NAME": "v1" })));
        let closed = done("CLOSE_PULL_REQUEST", json!({ "PR_NUMBER": 4, "COMMENT": "c" }));
        assert_eq!(closed, done("UPDATE_PULL_REQUEST", json!({ "PR_NUMBER": 4, "STATE": "closed", "TITLE": "t" })));
        assert_ne!(closed, done("UPDATE_PULL_REQUEST", json!({ "PR_NUMBER": 4, "TITLE": "t" })));
        let merged =
            |number: u64, how: &str| done("MERGE_PULL_REQUEST", json!({ "PR_NUMBER": number, "MERGE_METHOD": how }));
        assert_eq!(merged(4, "merge"), merged(4, "squash"));
        assert_ne!(merged(4, "merge"), merged(5, "merge"));
        // What cannot be read is taken as it is.
        for odd in [json!([7]), json!("x"), json!(null), json!({ "TYPE": "CREATE_TAG", "PARAMETERS": [7] })] {
            assert_eq!(deed(&json!({ "ACTION": odd })), odd);
        }
        // Two comments are two things.
        let comment = |text: &str| done("COMMENT_ON_PR", json!({ "PR_NUMBER": 4, "COMMENT_BODY": text }));
        assert_ne!(comment("a"), comment("b"));
    }

    #[test]
    fn each_object_of_a_deed_is_a_parameter_of_its_action() {
        for info in ACTIONS {
            let all: Map<String, Value> = info.parameters.iter().map(|name| ((*name).to_owned(), json!("x"))).collect();
            let given = json!({ "ACTION": { "TYPE": info.action.as_str(), "PARAMETERS": all } });
            let kept = deed(&given)["PARAMETERS"].as_object().map_or(0, Map::len);
            assert!(kept > 0, "{}", info.action.as_str());
        }
    }

    #[test]
    fn an_action_is_the_same_however_it_is_written() {
        let sha = "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80";
        let tag = json!({ "TAG_NAME": "v1", "TARGET_SHA": sha, "TAG_TYPE": "lightweight" });
        let with = |base: &Value, name: &str, value: Value| {
            let mut other = base.clone();
            other[name] = value;
            other
        };
        let pull =
            json!({ "HEAD_BRANCH": "x", "BASE_BRANCH": "main", "TITLE": "t", "BODY": "b", "LABELS": ["a", "b"] });
        let link = |from: u64, to: u64, how: &str| json!({ "SOURCE_ISSUE_NUMBER": from, "TARGET_ISSUE_NUMBER": to, "RELATIONSHIP": how });
        let run = |id: Value| json!({ "RUN_ID": id });
        let workflow = |name: &str, inputs: Value| json!({ "WORKFLOW_ID": 7, "REF": name, "INPUTS": inputs });
        let protect = |rules: Value| json!({ "BRANCH_NAME": "main", "PROTECTION_RULES": rules });
        type Written = (&'static str, Value);
        let same: Vec<(Written, Written)> = vec![
            (("CREATE_TAG", tag.clone()), ("CREATE_TAG", with(&tag, "TARGET_SHA", json!(sha.to_uppercase())))),
            (("CREATE_TAG", tag.clone()), ("CREATE_TAG", with(&tag, "TAG_NAME", json!(" v1\n")))),
            (("CREATE_TAG", tag.clone()), ("CREATE_TAG", with(&tag, "MESSAGE", json!("unused")))),
            (("CREATE_TAG", tag.clone()), ("CREATE_TAG", with(&tag, "x-note", json!("other")))),
            (
                ("CREATE_PULL_REQUEST", pull.clone()),
                ("CREATE_PULL_REQUEST", with(&pull, "HEAD_BRANCH", json!("ACME:x"))),
            ),
            (
                ("CREATE_PULL_REQUEST", pull.clone()),
                ("CREATE_PULL_REQUEST", with(&pull, "LABELS", json!(["B", "a", "A"]))),
            ),
            (("CREATE_PULL_REQUEST", pull.clone()), ("CREATE_PULL_REQUEST", with(&pull, "DRAFT", json!(false)))),
            (("CREATE_PULL_REQUEST", pull.clone()), ("CREATE_PULL_REQUEST", with(&pull, "REVIEWERS", json!([])))),
            (("LINK_ISSUES", link(4, 5, "blocks")), ("LINK_ISSUES", link(5, 4, "blocked_by"))),
            (("CANCEL_WORKFLOW", run(json!(9))), ("CANCEL_WORKFLOW", run(json!("9")))),
            (
                ("TRIGGER_WORKFLOW", workflow("main", json!({}))),
                ("TRIGGER_WORKFLOW", workflow("refs/heads/main", json!(null))),
            ),
            (
                ("CLOSE_GITHUB_ISSUE", json!({ "ISSUE_NUMBER": 4 })),
                ("UPDATE_GITHUB_ISSUE", json!({ "ISSUE_NUMBER": 4, "STATE": "closed", "STATE_REASON": "completed" })),
            ),
            (
                ("CLOSE_PULL_REQUEST", json!({ "PR_NUMBER": 4 })),
                ("UPDATE_PULL_REQUEST", json!({ "PR_NUMBER": 4, "STATE": "closed" })),
            ),
            (
                ("UPDATE_BRANCH_PROTECTION", protect(json!({ "RESTRICTIONS": { "USERS": ["ana"] } }))),
                (
                    "UPDATE_BRANCH_PROTECTION",
                    protect(json!({ "RESTRICTIONS": { "USERS": ["Ana"], "x": 1 }, "ENFORCE_ADMINS": false })),
                ),
            ),
        ];
        let different: Vec<(Written, Written)> = vec![
            (("CREATE_TAG", tag.clone()), ("CREATE_TAG", with(&tag, "TAG_NAME", json!("V1")))),
            (("CREATE_TAG", tag.clone()), ("CREATE_TAG", with(&tag, "TAG_TYPE", json!("annotated")))),
            (
                ("CREATE_PULL_REQUEST", pull.clone()),
                ("CREATE_PULL_REQUEST", with(&pull, "HEAD_BRANCH", json!("eve:x"))),
            ),
            (("CREATE_PULL_REQUEST", pull.clone()), ("CREATE_PULL_REQUEST", with(&pull, "BODY", json!("B")))),
            (("LINK_ISSUES", link(4, 5, "blocks")), ("LINK_ISSUES", link(4, 5, "blocked_by"))),
            (
                ("UPDATE_BRANCH_PROTECTION", protect(json!({ "RESTRICTIONS": {} }))),
                ("UPDATE_BRANCH_PROTECTION", protect(json!({ "RESTRICTIONS": { "USERS": [] } }))),
            ),
        ];
        let plain = |(kind, parameters): &Written, repository: &str| {
            let written = json!({
                "REQUESTER": { "REPOSITORY": repository }, "ACTION": { "TYPE": kind, "PARAMETERS": parameters },
            });
            (super::repository(&written), super::action(&written))
        };
        for (one, other) in &same {
            assert_eq!(plain(one, "acme/shop"), plain(other, "Acme/Shop"));
        }
        for (one, other) in &different {
            assert_ne!(plain(one, "acme/shop"), plain(other, "acme/shop"));
        }
        // What is plain already stays as it is, and with it what it is known by.
        let written = json!({ "ACTION": { "TYPE": "CREATE_TAG", "PARAMETERS": tag } });
        assert_eq!(super::action(&written), written["ACTION"]);
    }
}
