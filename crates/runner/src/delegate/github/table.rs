//! The one table from actions to requests, with how each is looked for when nobody knows whether it was done.
//!
//! | action | request | done already, if |
//! |---|---|---|
//! | `CREATE_GITHUB_ISSUE` | `POST issues` | one of the latest issues has the mark |
//! | `UPDATE_GITHUB_ISSUE`, `CLOSE_GITHUB_ISSUE` | `PATCH issues/N` | the issue has what was to be set |
//! | `ADD_*_LABELS`, `REMOVE_*_LABELS` | `POST issues/N/labels`, `DELETE issues/N/labels/L` | it has them, or has them not |
//! | `ASSIGN_ISSUE` | `POST issues/N/assignees` | they are assigned |
//! | `COMMENT_ON_ISSUE`, `COMMENT_ON_PR` | `POST issues/N/comments` | a comment has the mark |
//! | `LINK_ISSUES` | `POST issues/N/dependencies/blocked_by`, or a comment | it is listed there; a comment has the mark |
//! | `CREATE_PULL_REQUEST` | `POST pulls`, then labels, assignees, reviewers | a pull request of that branch has the mark |
//! | `UPDATE_PULL_REQUEST`, `CLOSE_PULL_REQUEST` | `PATCH pulls/N` | it has what was to be set |
//! | `MERGE_PULL_REQUEST` | `PUT pulls/N/merge`, then `DELETE git/refs/heads/B` | it is merged |
//! | `REQUEST_PR_REVIEW` | `POST pulls/N/requested_reviewers` | they are asked |
//! | `APPROVE_PR`, `REQUEST_PR_CHANGES` | `POST pulls/N/reviews` | a review has the mark |
//! | `CREATE_BRANCH`, `CREATE_TAG` | `POST git/refs`, for an annotated tag after `POST git/tags` | it is at that commit; the tag has the mark |
//! | `DELETE_BRANCH`, `DELETE_TAG` | `DELETE git/refs/…` | it is not there, and the repository is; at another commit than before it may be somebody else's |
//! | `UPDATE_BRANCH_PROTECTION` | `PUT branches/B/protection` | it is as it was to be |
//! | `TRIGGER_WORKFLOW` | `POST actions/workflows/W/dispatches` | exactly one run can be its own, see `triggered` |
//! | `CANCEL_WORKFLOW` | `POST actions/runs/R/cancel` | it was cancelled |
//! | `RERUN_WORKFLOW` | `POST actions/runs/R/rerun` | it began after the instruction |
//!
//! The mark is a comment that nobody sees, with the id of the instruction and a hash of it.

use super::pages::Page;
use super::step::{Blind, Order, Probe, Reading, Step, Take, listed, state};
use super::triggered;
use countersign_domain::delegation::action::Parameters;
use countersign_domain::delegation::parameters::{
    BranchProtection, CreatePullRequest, CreateTag, IssueLink, Names, Relationship, TagType,
};
use countersign_domain::delegation::payload::{DelegationInstruction, TextOr};
use countersign_domain::delegation::trying::digest;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What is to be sent for an instruction. `from`: what is made for it is not older. `before`: what a name that is to be deleted
/// was at before anything was sent; at another, it may be somebody else's. None, if it does not matter whose it is.
pub(super) fn order_from(instruction: &DelegationInstruction, from: &str, before: Option<&str>) -> Order {
    let root = format!("/repos/{}", instruction.requester.repository);
    let mark = mark(instruction);
    let at = Place { root: &root, mark: &mark, since: instruction.timestamp.as_str(), from, before };
    at.order(&instruction.action.parameters)
}

/// The mark that what is made for an instruction carries. An id is given out once in a project, and several projects may act on
/// one repository: all that the instruction says tells theirs apart from ours.
pub(super) fn mark(instruction: &DelegationInstruction) -> String {
    let said = digest(&json!(instruction));
    format!("{}{} -->", mark_begins(instruction), said.get(..MARK_DIGITS).unwrap_or(&said))
}

/// How the mark begins: enough, where the platform itself said which of its resources was made for the instruction. The first
/// marks had the id alone, and began so too.
pub(super) fn mark_begins(instruction: &DelegationInstruction) -> String {
    format!("<!-- countersign:{} ", instruction.instruction_id)
}

/// How many digits of the hash are enough to know something again.
const MARK_DIGITS: usize = 16;

/// The same, where all that is known is when the instruction was given.
pub(super) fn order(instruction: &DelegationInstruction) -> Order {
    order_from(instruction, instruction.timestamp.as_str(), None)
}

/// The name that an action deletes, below `refs/`.
pub(super) fn deleted(parameters: &Parameters) -> Option<String> {
    match parameters {
        Parameters::DeleteBranch(it) => Some(format!("heads/{}", it.branch_name.as_str())),
        Parameters::DeleteTag(it) => Some(format!("tags/{}", it.tag_name.as_str())),
        _ => None,
    }
}

/// Where it is sent, and how it is known again.
struct Place<'a> {
    root: &'a str,
    mark: &'a str,
    since: &'a str,
    from: &'a str,
    before: Option<&'a str>,
}

impl Place<'_> {
    fn order(&self, parameters: &Parameters) -> Order {
        let root = self.root;
        match parameters {
            Parameters::CreateGithubIssue(it) => {
                let body = without_nothing(json!({
                    "title": it.title, "body": self.marked(it.body.inspect(str::to_owned)), "labels": it.labels,
                    "assignees": it.assignees,
                }));
                let list = format!("{root}/issues?state=all&sort=created&direction=desc");
                let older = self.older();
                let step = Step::post(format!("{root}/issues"), body, self.marked_in(list, older)).numbered();
                let step = match &it.milestone {
                    Some(TextOr::Other(number)) => step.with("milestone", json!(number.get())),
                    Some(TextOr::Text(name)) => {
                        let list = format!("{root}/milestones?state=all");
                        let name = name.as_str().to_owned();
                        let number =
                            move |it: &Value| it.get("number").filter(|_| it["title"] == name.as_str()).cloned();
                        step.taking(Take::listed(list, "milestone", number))
                    }
                    None => step,
                };
                Order::of(vec![step])
            }
            Parameters::UpdateGithubIssue(it) => self.set(
                &format!("issues/{}", it.issue_number.get()),
                json!({ "title": it.title, "body": it.body, "state": it.state, "state_reason": it.state_reason }),
            ),
            Parameters::CloseGithubIssue(it) => {
                let number = it.issue_number.get();
                let said = it.comment.as_ref().map(|text| self.comment(number, text.inspect(str::to_owned)));
                let fields = json!({ "state": "closed", "state_reason": it.state_reason });
                self.set(&format!("issues/{number}"), fields).after(said)
            }
            Parameters::AddIssueLabels(it) => self.add_labels("issues", it.issue_number.get(), &it.labels),
            Parameters::AddPrLabels(it) => self.add_labels("pulls", it.pr_number.get(), &it.labels),
            Parameters::RemoveIssueLabels(it) => self.remove_labels("issues", it.issue_number.get(), &it.labels),
            Parameters::RemovePrLabels(it) => self.remove_labels("pulls", it.pr_number.get(), &it.labels),
            Parameters::AssignIssue(it) => {
                let number = it.issue_number.get();
                Order::of(vec![self.assign(&number.to_string(), words(&it.assignees))]).showing(self.issue(number))
            }
            Parameters::CommentOnIssue(it) => {
                Order::of(vec![self.comment(it.issue_number.get(), it.comment_body.inspect(str::to_owned))])
            }
            Parameters::CommentOnPr(it) => {
                Order::of(vec![self.comment(it.pr_number.get(), it.comment_body.inspect(str::to_owned))])
            }
            Parameters::LinkIssues(it) => self.link(it),
            Parameters::CreatePullRequest(it) => self.open(it),
            Parameters::UpdatePullRequest(it) => self.set(
                &format!("pulls/{}", it.pr_number.get()),
                json!({ "title": it.title, "body": it.body, "state": it.state }),
            ),
            Parameters::ClosePullRequest(it) => {
                let number = it.pr_number.get();
                let said = it.comment.as_ref().map(|text| self.comment(number, text.inspect(str::to_owned)));
                self.set(&format!("pulls/{number}"), json!({ "state": "closed" })).after(said)
            }
            Parameters::MergePullRequest(it) => {
                let pull = format!("{root}/pulls/{}", it.pr_number.get());
                let body = without_nothing(json!({
                    "merge_method": it.merge_method, "commit_title": it.commit_title,
                    "commit_message": it.commit_message,
                }));
                let merged = state(pull.clone(), |it| it["merged"] == true);
                let mut steps = vec![Step::new("PUT", format!("{pull}/merge"), Some(body), merged)];
                if it.delete_branch == Some(true) {
                    steps.push(self.delete_head(&pull));
                }
                Order::of(steps).showing(pull)
            }
            Parameters::RequestPrReview(it) => {
                let number = it.pr_number.get();
                let pull = format!("{root}/pulls/{number}");
                Order::of(vec![self.ask_review(&number.to_string(), words(&it.reviewers))]).showing(pull)
            }
            Parameters::ApprovePr(it) => {
                let body = it.review_body.as_ref().map(|text| text.inspect(str::to_owned)).unwrap_or_default();
                self.review(it.pr_number.get(), "APPROVE", body)
            }
            Parameters::RequestPrChanges(it) => {
                self.review(it.pr_number.get(), "REQUEST_CHANGES", it.review_body.inspect(str::to_owned))
            }
            Parameters::CreateBranch(it) => {
                let name = format!("heads/{}", it.branch_name.as_str());
                Order::of(vec![self.make_ref(&name, it.source_sha.as_str())])
            }
            Parameters::CreateTag(it) => self.tag(it),
            Parameters::DeleteBranch(_) | Parameters::DeleteTag(_) => {
                self.delete_ref(&deleted(parameters).unwrap_or_default())
            }
            Parameters::UpdateBranchProtection(it) => self.protect(it),
            Parameters::TriggerWorkflow(it) => {
                let workflow = format!("{root}/actions/workflows/{}", escaped(&id(&it.workflow_id), false));
                let name = it.reference.as_str();
                let ran = triggered::probe(root, &workflow, name, self.from);
                let inputs = it.inputs.as_ref().map(|inputs| inputs.to_value());
                let body = without_nothing(json!({ "ref": name, "inputs": inputs }));
                Order::of(vec![Step::post(format!("{workflow}/dispatches"), body, ran)]).showing(workflow)
            }
            Parameters::CancelWorkflow(it) => {
                let run = format!("{root}/actions/runs/{}", escaped(&id(&it.run_id), false));
                let ended = state(run.clone(), |it| it["conclusion"] == "cancelled");
                Order::of(vec![Step::new("POST", format!("{run}/cancel"), None, ended)]).showing(run)
            }
            Parameters::RerunWorkflow(it) => {
                let run = format!("{root}/actions/runs/{}", escaped(&id(&it.run_id), false));
                let since = self.since.parse::<jiff::Timestamp>().ok();
                let again = state(run.clone(), move |it| {
                    let began = it["run_started_at"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
                    began.zip(since).is_some_and(|(began, since)| began >= since)
                });
                Order::of(vec![Step::new("POST", format!("{run}/rerun"), None, again).once()]).showing(run)
            }
        }
    }

    fn issue(&self, number: i64) -> String {
        format!("{}/issues/{number}", self.root)
    }

    fn marked(&self, text: String) -> String {
        if text.is_empty() { self.mark.to_owned() } else { format!("{text}\n\n{}", self.mark) }
    }

    /// Something in a list has the mark.
    fn marked_in(&self, list: String, past: impl Fn(&Value) -> bool + 'static) -> Probe {
        let mark = self.mark.to_owned();
        listed(list, move |it| it["body"].as_str().is_some_and(|body| body.contains(&mark)), past)
    }

    /// Whether something is so much older than the instruction that no clock can be that wrong.
    fn older(&self) -> impl Fn(&Value) -> bool + 'static {
        let since = self.since.parse::<jiff::Timestamp>().ok();
        move |it: &Value| {
            let made = it["created_at"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
            made.zip(since)
                .is_some_and(|(made, since)| since.duration_since(made) > jiff::SignedDuration::from_hours(24))
        }
    }

    /// Sets fields of an issue or a pull request.
    fn set(&self, what: &str, fields: Value) -> Order {
        let path = format!("{}/{what}", self.root);
        let fields = without_nothing(fields);
        let wanted = fields.clone();
        let is = state(path.clone(), move |it| {
            wanted.as_object().is_some_and(|wanted| wanted.iter().all(|(name, value)| it[name] == *value))
        });
        Order::of(vec![Step::new("PATCH", path, Some(fields), is)])
    }

    fn comment(&self, number: i64, text: String) -> Step {
        let path = format!("{}/comments", self.issue(number));
        let list = format!("{path}?since={}", escaped(self.since, false));
        Step::post(path, json!({ "body": self.marked(text) }), self.marked_in(list, |_| false))
    }

    fn review(&self, number: i64, event: &str, text: String) -> Order {
        let path = format!("{}/pulls/{number}/reviews", self.root);
        let list = self.marked_in(path.clone(), |_| false);
        Order::of(vec![Step::post(path, json!({ "event": event, "body": self.marked(text) }), list)])
    }

    fn labels(&self, number: &str, labels: Vec<String>) -> Step {
        let (issue, wanted) = (format!("{}/issues/{number}", self.root), labels.clone());
        let has = state(issue.clone(), move |it| wanted.iter().all(|label| named(&it["labels"], "name", label)));
        Step::new("POST", format!("{issue}/labels"), Some(json!({ "labels": labels })), has)
    }

    fn assign(&self, number: &str, people: Vec<String>) -> Step {
        let (issue, wanted) = (format!("{}/issues/{number}", self.root), people.clone());
        let is = state(issue.clone(), move |it| wanted.iter().all(|who| named(&it["assignees"], "login", who)));
        // Whoever cannot be assigned is passed over in silence.
        Step::new("POST", format!("{issue}/assignees"), Some(json!({ "assignees": people })), is).looking_after()
    }

    fn ask_review(&self, number: &str, people: Vec<String>) -> Step {
        let (pull, wanted) = (format!("{}/pulls/{number}", self.root), people.clone());
        let is =
            state(pull.clone(), move |it| wanted.iter().all(|who| named(&it["requested_reviewers"], "login", who)));
        Step::new("POST", format!("{pull}/requested_reviewers"), Some(json!({ "reviewers": people })), is)
    }

    fn add_labels(&self, kind: &str, number: i64, labels: &Names) -> Order {
        Order::of(vec![self.labels(&number.to_string(), words(labels))])
            .showing(format!("{}/{kind}/{number}", self.root))
    }

    fn remove_labels(&self, kind: &str, number: i64, labels: &Names) -> Order {
        let issue = self.issue(number);
        let remove = |label: String| {
            let path = format!("{issue}/labels/{}", escaped(&label, false));
            let gone = state(issue.clone(), move |it| it["labels"].is_array() && !named(&it["labels"], "name", &label));
            // One that is not on it need not be taken off.
            Step::new("DELETE", path, None, gone).tolerating(&[(404, "")])
        };
        Order::of(words(labels).into_iter().map(remove).collect()).showing(format!("{}/{kind}/{number}", self.root))
    }

    fn link(&self, it: &IssueLink) -> Order {
        let (source, target) = (it.source_issue_number.get(), it.target_issue_number.get());
        let (blocked, blocker) = match it.relationship {
            Relationship::Blocks => (target, source),
            Relationship::BlockedBy => (source, target),
            Relationship::RelatesTo => {
                let text = format!("Relates to #{target}");
                return Order::of(vec![self.comment(source, text)]).showing(self.issue(source));
            }
        };
        let path = format!("{}/dependencies/blocked_by", self.issue(blocked));
        let listed = listed(path.clone(), move |it| it["number"] == blocker, |_| false);
        let id = Take::looked_up(self.issue(blocker), "issue_id", |issue| issue.get("id").cloned());
        Order::of(vec![Step::post(path, json!({}), listed).taking(id)]).showing(self.issue(source))
    }

    fn open(&self, it: &CreatePullRequest) -> Order {
        let path = format!("{}/pulls", self.root);
        let (head, base) = (it.head_branch.as_str(), it.base_branch.as_str());
        let owner = self.root.split('/').nth(2).unwrap_or_default();
        let full = if head.contains(':') { head.to_owned() } else { format!("{owner}:{head}") };
        let list = format!("{path}?state=all&head={}", escaped(&full, false));
        let body = without_nothing(json!({
            "title": it.title, "head": head, "base": base, "draft": it.draft,
            "body": self.marked(it.body.inspect(str::to_owned)),
        }));
        let some = |names: &Option<countersign_contract::List<countersign_contract::Name>>| {
            let names: Vec<String> =
                names.iter().flat_map(|names| names.iter()).map(|name| name.as_str().to_owned()).collect();
            (!names.is_empty()).then_some(names)
        };
        let mut steps = vec![Step::post(path.clone(), body, self.marked_in(list, |_| false)).numbered()];
        // The number is known once it is open.
        steps.extend(some(&it.labels).map(|names| self.labels("{number}", names)));
        steps.extend(some(&it.assignees).map(|names| self.assign("{number}", names)));
        steps.extend(some(&it.reviewers).map(|names| self.ask_review("{number}", names)));
        Order::of(steps)
    }

    /// Deletes the branch of a pull request, if it is one of this repository: in another copy of it a branch of the same
    /// name is somebody else's.
    fn delete_head(&self, pull: &str) -> Step {
        let repository = self.root.trim_start_matches("/repos/").to_owned();
        let head = Take::looked_up(pull.to_owned(), "{head}", move |pull| {
            let own = pull["head"]["repo"]["full_name"].as_str()?.eq_ignore_ascii_case(&repository);
            let name = pull["head"]["ref"].as_str().filter(|_| own)?;
            Some(Value::from(escaped(name, true)))
        });
        let (root, from, of) =
            (self.root.to_owned(), pull.to_owned(), self.root.trim_start_matches("/repos/").to_owned());
        let gone: Probe = Box::new(move |read: &Reading<'_>| {
            let pull = read(&from)?.body;
            let own = pull["head"]["repo"]["full_name"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(&of));
            let Some(name) = pull["head"]["ref"].as_str().filter(|_| own) else { return Ok(None) };
            let Page { status, body: found, .. } = read(&format!("{root}/git/ref/heads/{}", escaped(name, true)))?;
            if status < 300 && found["object"]["sha"] != pull["head"]["sha"] {
                let why = "whether its branch was deleted is not known: one of that name is at another commit than was merged, \
                           and may be somebody else's; it was not deleted";
                return Err(Blind::Unclear(why.to_owned()));
            }
            Ok((status == 404).then(|| json!({})))
        });
        Step::new("DELETE", format!("{}/git/refs/heads/{{head}}", self.root), None, gone)
            .taking(head.or_skip("no branch was deleted: the head is not, or no longer, a branch of this repository"))
            .tolerating(&[(404, ""), (422, "does not exist")])
    }

    fn make_ref(&self, name: &str, sha: &str) -> Step {
        let (path, sha) = (format!("{}/git/ref/{}", self.root, escaped(name, true)), sha.to_ascii_lowercase());
        let wanted = sha.clone();
        let is = state(path, move |it| it["object"]["sha"] == wanted.as_str());
        let body = json!({ "ref": format!("refs/{name}"), "sha": sha });
        // A name is there once: the platform refuses to make it a second time.
        Step::new("POST", format!("{}/git/refs", self.root), Some(body), is)
    }

    fn delete_ref(&self, name: &str) -> Order {
        let name = escaped(name, true);
        let (root, path) = (self.root.to_owned(), format!("{}/git/ref/{name}", self.root));
        let before = self.before.map(str::to_owned);
        let gone: Probe = Box::new(move |read: &Reading<'_>| {
            let Page { status, body: found, .. } = read(&path)?;
            if let (true, Some(before)) = (status < 300, &before)
                && found["object"]["sha"] != before.as_str()
            {
                let why = "whether it was done is not known: what was to be deleted was at another commit, and what is there now \
                           may be somebody else's; it was not deleted";
                return Err(Blind::Unclear(why.to_owned()));
            }
            // Whoever may not see a repository is told that nothing is there.
            let gone = status == 404 && read(&root)?.status < 300;
            Ok(gone.then(|| json!({})))
        });
        Order::of(vec![Step::new("DELETE", format!("{}/git/refs/{name}", self.root), None, gone)])
    }

    fn tag(&self, it: &CreateTag) -> Order {
        let (name, sha) = (it.tag_name.as_str(), it.target_sha.as_str().to_ascii_lowercase());
        let full = format!("tags/{name}");
        if it.tag_type == TagType::Lightweight {
            return Order::of(vec![self.make_ref(&full, &sha)]);
        }
        let message = self.marked(it.message.as_ref().map(|text| text.inspect(str::to_owned)).unwrap_or_default());
        let (root, mark) = (self.root.to_owned(), self.mark.to_owned());
        let path = format!("{root}/git/ref/{}", escaped(&full, true));
        let is: Probe = Box::new(move |read: &Reading<'_>| {
            let found = read(&path)?.body;
            let Some(object) = found["object"]["sha"].as_str().filter(|_| found["object"]["type"] == "tag") else {
                return Ok(None);
            };
            let Page { body: tag, .. } = read(&format!("{root}/git/tags/{}", escaped(object, false)))?;
            Ok(tag["message"].as_str().is_some_and(|message| message.contains(&mark)).then_some(found))
        });
        // An object that no name leads to is nothing: it may be made again.
        let never: Probe = Box::new(|_| Ok(None));
        let body = json!({ "tag": name, "message": message, "object": sha, "type": "commit" });
        let object = Step::new("POST", format!("{}/git/tags", self.root), Some(body), never);
        let body = json!({ "ref": format!("refs/{full}") });
        let named = Step::new("POST", format!("{}/git/refs", self.root), Some(body), is);
        Order::of(vec![object, named.taking(Take::from_last("/sha", "sha"))]).about(1)
    }

    fn protect(&self, it: &BranchProtection) -> Order {
        let rules = &it.protection_rules;
        let (checks, reviews) = (&rules.required_status_checks, &rules.required_pull_request_reviews);
        let (push, branch) = (&rules.restrictions, escaped(it.branch_name.as_str(), false));
        let contexts: Vec<&str> = checks.contexts.iter().flat_map(|it| it.iter()).map(|it| it.as_str()).collect();
        let checks_wanted = (checks.strict.is_some() || checks.contexts.is_some())
            .then(|| json!({ "strict": checks.strict.unwrap_or(false), "contexts": contexts }));
        let reviews_wanted = without_nothing(json!({
            "dismiss_stale_reviews": reviews.dismiss_stale_reviews,
            "require_code_owner_reviews": reviews.require_code_owner_reviews,
            "required_approving_review_count": reviews.required_approving_review_count.map(|it| it.get()),
        }));
        let reviews_wanted = Some(reviews_wanted).filter(|it| it.as_object().is_some_and(|it| !it.is_empty()));
        let push_wanted = (push.users.is_some() || push.teams.is_some())
            .then(|| json!({ "users": or_none(json!(push.users)), "teams": or_none(json!(push.teams)) }));
        let body = json!({
            "required_status_checks": checks_wanted, "enforce_admins": rules.enforce_admins,
            "required_pull_request_reviews": reviews_wanted, "restrictions": push_wanted,
        });
        let path = format!("{}/branches/{branch}/protection", self.root);
        let wanted = body.clone();
        let is = state(path.clone(), move |it| {
            let part = |name: &str, fields: &[&str]| match &wanted[name] {
                Value::Null => it[name].is_null(),
                wanted => fields.iter().all(|field| wanted[*field].is_null() || it[name][*field] == wanted[*field]),
            };
            it["enforce_admins"]["enabled"] == (wanted["enforce_admins"] == true)
                && part("required_status_checks", &["strict", "contexts"])
                && part(
                    "required_pull_request_reviews",
                    &["required_approving_review_count", "dismiss_stale_reviews", "require_code_owner_reviews"],
                )
                && part("restrictions", &[])
                && (wanted["restrictions"].is_null() || {
                    let same = |list: &str, field: &str| {
                        names(&it["restrictions"][list], field) == names(&wanted["restrictions"][list], field)
                    };
                    same("users", "login") && same("teams", "slug")
                })
        });
        let shown = format!("{}/branches/{branch}", self.root);
        Order::of(vec![Step::new("PUT", path, Some(body), is)]).showing(shown)
    }
}

fn or_none(list: Value) -> Value {
    if list.is_null() { json!([]) } else { list }
}

/// Whether a list has something of this name; platforms do not tell capitals apart.
pub(super) fn named(list: &Value, field: &str, name: &str) -> bool {
    names(list, field).contains(&name.to_lowercase())
}

/// The names in a list, which are given as they are or as a field of what has them.
fn names(list: &Value, field: &str) -> BTreeSet<String> {
    let name = |it: &Value| it.as_str().or(it[field].as_str()).map(str::to_lowercase);
    list.as_array().into_iter().flatten().filter_map(name).collect()
}

fn words(names: &Names) -> Vec<String> {
    names.iter().map(|name| name.as_str().to_owned()).collect()
}

fn id(id: &TextOr<countersign_contract::Int<1>>) -> String {
    match id {
        TextOr::Text(text) => text.as_str().to_owned(),
        TextOr::Other(number) => number.get().to_string(),
    }
}

fn without_nothing(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    value
}

/// A text as a part of an address; with `slashes`, those stay.
pub(super) fn escaped(text: &str, slashes: bool) -> String {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') || (slashes && byte == b'/')
    };
    // A part that is only dots would lead elsewhere.
    let dots = text.split('/').any(|part| !part.is_empty() && part.bytes().all(|byte| byte == b'.'));
    let keep = |byte: u8| plain(byte) && !(dots && byte == b'.');
    text.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
