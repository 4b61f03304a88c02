//! What the platform can say before anything is done: that something is not there, is there already, or is forbidden.
//!
//! | found | answered |
//! |---|---|
//! | the repository, a branch, a commit, a number or a workflow is not there; a name is taken; a pull request is closed | INVALID_REQUEST |
//! | the token is not taken | FAILURE, AUTHORIZATION_FAILURE |
//! | the owner of the token lacks the right | BLOCKED, AUTHORIZATION_FAILURE |
//! | the repository is archived, issues are off, a workflow is off, the branch is the default one or must not be deleted, a draft, conflicts | BLOCKED, PLATFORM_CONSTRAINT |
//!
//! Each is asked once for an instruction, before it is received. Only what the platform says for certain counts: what cannot be
//! read, and what is left of a limit that the action itself needs, is left for the action to find out.

use super::line::Reply;
use super::progress::Exchange;
use super::refused::Refused;
use super::table::escaped;
use super::{GithubExecutor, waiting};
use crate::delegate::Obstacle;
use countersign_domain::delegation::action::{ActionType, Parameters};
use countersign_domain::delegation::payload::{DelegationInstruction, TextOr};
use serde_json::Value;
use std::cell::RefCell;
use std::time::Instant;

/// How many requests are left for the action itself.
const LEFT_MIN: u64 = 10;

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    /// What is wrong with the instruction.
    pub(super) wrong: Vec<Obstacle>,
    /// What forbids it, and the request that showed it.
    pub(super) forbidden: Option<(Refused, Exchange)>,
    /// A limit that was met, the request that met it, and until when nothing should be sent.
    pub(super) limited: Option<(Refused, Exchange, Instant)>,
}

/// What the platform was asked.
struct Look<'a> {
    executor: &'a GithubExecutor,
    root: String,
    found: RefCell<Found>,
    /// Whether a limit was met, so that nothing more is asked.
    spent: RefCell<bool>,
}

/// Asks what can be asked cheaply about an instruction.
pub(super) fn look(executor: &GithubExecutor, instruction: &DelegationInstruction) -> Found {
    let root = format!("/repos/{}", instruction.requester.repository);
    let look = Look { executor, root, found: RefCell::default(), spent: RefCell::new(false) };
    look.at(instruction);
    look.found.into_inner()
}

impl Look<'_> {
    /// Reads a path, once. None, if nothing certain came of it.
    fn read(&self, path: &str) -> Option<(Reply, Exchange)> {
        if *self.spent.borrow() {
            return None;
        }
        let path = format!("{}{path}", self.root);
        let mut exchange = Exchange::begun("GET", self.executor.line.url(&path), None);
        let reply = self.executor.line.send("GET", &path, None).ok()?;
        exchange.status = Some(reply.status);
        let left = reply.header("x-ratelimit-remaining").and_then(|left| left.parse::<u64>().ok());
        let limited = waiting::is_limited(&reply);
        if limited || left.is_some_and(|left| left < LEFT_MIN) {
            *self.spent.borrow_mut() = true;
        }
        if limited {
            let pause = waiting::pause(&reply, 1);
            let met = (Refused::limited_when_looking(&reply, pause), exchange, Instant::now() + pause);
            self.found.borrow_mut().limited = Some(met);
            return None;
        }
        (reply.status < 500 && !reply.garbled).then_some((reply, exchange))
    }

    fn wrong(&self, field: &'static str, error: String, expected: &str) {
        self.found.borrow_mut().wrong.push(Obstacle { field, error, expected: expected.to_owned() });
    }

    fn forbid(&self, refused: Refused, exchange: Exchange) {
        self.found.borrow_mut().forbidden.get_or_insert((refused, exchange));
    }

    /// Something that must be there. Gives it, if it is.
    fn must_be(&self, path: &str, field: &'static str, what: &str) -> Option<(Value, Exchange)> {
        let (reply, exchange) = self.read(path)?;
        if matches!(reply.status, 404 | 410) {
            self.wrong(field, format!("{what} is not there"), "one that is there");
        }
        reply.is_success().then_some((reply.body, exchange))
    }

    fn at(&self, instruction: &DelegationInstruction) {
        let Some(repository) = self.repository(instruction) else { return };
        match &instruction.action.parameters {
            Parameters::CreateBranch(it) => {
                self.must_not_be(&format!("heads/{}", it.branch_name.as_str()), "ACTION.PARAMETERS.BRANCH_NAME");
                self.commit(it.source_sha.as_str(), "ACTION.PARAMETERS.SOURCE_SHA");
            }
            Parameters::CreateTag(it) => {
                self.must_not_be(&format!("tags/{}", it.tag_name.as_str()), "ACTION.PARAMETERS.TAG_NAME");
                self.commit(it.target_sha.as_str(), "ACTION.PARAMETERS.TARGET_SHA");
            }
            Parameters::DeleteTag(it) => {
                let name = it.tag_name.as_str();
                let path = format!("/git/ref/tags/{}", escaped(name, true));
                self.must_be(&path, "ACTION.PARAMETERS.TAG_NAME", &format!("tag {name}"));
            }
            Parameters::DeleteBranch(it) => self.deletable(it.branch_name.as_str(), &repository),
            Parameters::UpdateBranchProtection(it) => {
                self.branch(it.branch_name.as_str(), "ACTION.PARAMETERS.BRANCH_NAME");
            }
            Parameters::CreatePullRequest(it) => {
                self.branch(it.base_branch.as_str(), "ACTION.PARAMETERS.BASE_BRANCH");
                if !it.head_branch.as_str().contains(':') {
                    self.branch(it.head_branch.as_str(), "ACTION.PARAMETERS.HEAD_BRANCH");
                }
            }
            Parameters::TriggerWorkflow(it) => {
                let id = match &it.workflow_id {
                    TextOr::Text(text) => text.as_str().to_owned(),
                    TextOr::Other(number) => number.get().to_string(),
                };
                let path = format!("/actions/workflows/{}", escaped(&id, false));
                let found = self.must_be(&path, "ACTION.PARAMETERS.WORKFLOW_ID", &format!("workflow {id}"));
                if let Some((workflow, exchange)) = found
                    && workflow["state"].as_str().is_some_and(|state| state.starts_with("disabled"))
                {
                    self.forbid(Refused::forbidden(format!("workflow {id} is switched off")), exchange);
                }
            }
            Parameters::MergePullRequest(it) => self.mergeable(it.pr_number.get()),
            parameters => self.numbered(instruction.action.kind(), parameters, &repository),
        }
    }

    /// The repository: it is there, is not archived, and the owner of the token has the right. None, if it is pointless to look on.
    fn repository(&self, instruction: &DelegationInstruction) -> Option<Value> {
        let (reply, exchange) = self.read("")?;
        let name = &instruction.requester.repository;
        match reply.status {
            401 => self.forbid(Refused::of(&reply), exchange),
            404 | 410 => {
                let error = format!("{name} is not there, or the token may not see it");
                self.wrong("REQUESTER.REPOSITORY", error, "a repository that the token may see");
            }
            301 | 302 | 307 | 308 => {
                self.wrong("REQUESTER.REPOSITORY", format!("{name} has moved"), "the name that it has now");
            }
            _ if reply.is_success() => {
                let lacking = right(instruction.action.kind()).filter(|right| {
                    let rights = &reply.body["permissions"];
                    rights.is_object() && !has(rights, right)
                });
                if reply.body["archived"] == true {
                    self.forbid(
                        Refused::forbidden(format!("{name} is archived, and nothing is changed in it")),
                        exchange,
                    );
                } else if let Some(right) = lacking {
                    let why = format!("the owner of the token lacks the right `{right}` in {name}");
                    self.forbid(Refused::unentitled(why), exchange);
                }
                return Some(reply.body);
            }
            _ => {}
        }
        None
    }

    fn must_not_be(&self, name: &str, field: &'static str) {
        let Some((reply, _)) = self.read(&format!("/git/ref/{}", escaped(name, true))) else { return };
        let full = format!("refs/{name}");
        let at =
            reply.body["object"]["sha"].as_str().filter(|_| reply.is_success() && reply.body["ref"] == full.as_str());
        if let Some(at) = at {
            let at = countersign_contract::show(at);
            self.wrong(field, format!("{full} is there already, at {at}"), "a name that is free");
        }
    }

    fn commit(&self, sha: &str, field: &'static str) {
        let path = format!("/git/commits/{}", escaped(&sha.to_ascii_lowercase(), false));
        self.must_be(&path, field, &format!("commit {sha}"));
    }

    fn branch(&self, name: &str, field: &'static str) -> Option<(Value, Exchange)> {
        self.must_be(&format!("/branches/{}", escaped(name, false)), field, &format!("branch {name}"))
    }

    fn deletable(&self, name: &str, repository: &Value) {
        let Some((branch, exchange)) = self.branch(name, "ACTION.PARAMETERS.BRANCH_NAME") else { return };
        if repository["default_branch"] == name {
            return self.forbid(Refused::forbidden(format!("branch {name} is the default branch")), exchange);
        }
        if branch["protected"] != true {
            return;
        }
        // Some protection lets a branch be deleted; whoever may not see which leaves it to the platform.
        let Some((reply, exchange)) = self.read(&format!("/branches/{}/protection", escaped(name, false))) else {
            return;
        };
        if reply.is_success() && reply.body["allow_deletions"]["enabled"] == false {
            self.forbid(Refused::forbidden(format!("branch {name} is protected from being deleted")), exchange);
        }
    }

    fn mergeable(&self, number: i64) {
        let field = "ACTION.PARAMETERS.PR_NUMBER";
        let what = format!("pull request {number}");
        let Some((pull, exchange)) = self.must_be(&format!("/pulls/{number}"), field, &what) else { return };
        let state = pull["mergeable_state"].as_str().unwrap_or_default();
        if pull["merged"] == true {
            self.wrong(field, format!("{what} is merged already"), "a pull request that is open");
        } else if pull["state"] == "closed" {
            self.wrong(field, format!("{what} is closed"), "a pull request that is open");
        } else if pull["draft"] == true {
            self.forbid(Refused::forbidden(format!("{what} is a draft")), exchange);
        } else if state == "dirty" {
            self.forbid(Refused::forbidden(format!("{what} has conflicts with its base")), exchange);
        }
    }

    /// Issues, pull requests and runs, by their numbers.
    fn numbered(&self, action: ActionType, parameters: &Parameters, repository: &Value) {
        if let Parameters::CancelWorkflow(it) | Parameters::RerunWorkflow(it) = parameters {
            let id = match &it.run_id {
                TextOr::Text(text) => text.as_str().to_owned(),
                TextOr::Other(number) => number.get().to_string(),
            };
            let path = format!("/actions/runs/{}", escaped(&id, false));
            let found = self.must_be(&path, "ACTION.PARAMETERS.RUN_ID", &format!("run {id}"));
            let over = found.is_some_and(|(run, _)| run["status"] == "completed");
            if over && action == ActionType::CancelWorkflow {
                self.wrong("ACTION.PARAMETERS.RUN_ID", format!("run {id} is over"), "a run that goes on");
            }
            return;
        }
        let names = action.info().parameters;
        let field = match names {
            _ if names.contains(&"PR_NUMBER") => "ACTION.PARAMETERS.PR_NUMBER",
            _ if names.contains(&"ISSUE_NUMBER") => "ACTION.PARAMETERS.ISSUE_NUMBER",
            _ if names.contains(&"SOURCE_ISSUE_NUMBER") => "ACTION.PARAMETERS.SOURCE_ISSUE_NUMBER",
            _ => {
                if repository["has_issues"] == false
                    && let Some((_, exchange)) = self.read("")
                {
                    self.forbid(Refused::forbidden("issues are switched off in the repository".to_owned()), exchange);
                }
                return;
            }
        };
        let [number, other] = parameters.numbers();
        if let Some(other) = other {
            let field = "ACTION.PARAMETERS.TARGET_ISSUE_NUMBER";
            self.must_be(&format!("/issues/{other}"), field, &format!("issue {other}"));
        }
        let Some(number) = number else { return };
        let (path, what) = match field {
            "ACTION.PARAMETERS.PR_NUMBER" => (format!("/pulls/{number}"), format!("pull request {number}")),
            _ => (format!("/issues/{number}"), format!("issue {number}")),
        };
        self.must_be(&path, field, &what);
    }
}

/// The right that an action needs for certain; none, if it depends.
fn right(action: ActionType) -> Option<&'static str> {
    use ActionType::*;
    match action {
        UpdateBranchProtection => Some("admin"),
        CreateBranch | DeleteBranch | CreateTag | DeleteTag | MergePullRequest | TriggerWorkflow | CancelWorkflow
        | RerunWorkflow => Some("push"),
        AddIssueLabels | RemoveIssueLabels | AddPrLabels | RemovePrLabels | AssignIssue => Some("triage"),
        _ => None,
    }
}

/// Whether somebody has a right, or one that includes it.
fn has(rights: &Value, right: &str) -> bool {
    let including: &[&str] = match right {
        "triage" => &["triage", "push", "maintain", "admin"],
        "push" => &["push", "maintain", "admin"],
        _ => &["admin"],
    };
    including.iter().any(|right| rights[*right] == true)
}
