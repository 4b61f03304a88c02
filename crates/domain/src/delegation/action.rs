//! The actions that can be delegated: one row for each, and everything that is to be known of it in that row.
//!
//! The shape of `ACTION`, the policy, the checks of responses and the executor all read these rows; to add an action is
//! to add a row (and the shape of its parameters, if no other has it).

use super::parameters;
use super::payload::{AuthorizationLevel, ResourceType};
use super::ref_name::RefKind;
use countersign_contract::serde::{Serialize, Serializer, ser::SerializeMap};
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{Cursor, Kind, Report, Schemas, Shape, choice, reference, show};

/// What an action does to the resource that it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The resource was not there before.
    Creates,
    /// The resource was there before and is another now.
    Updates,
    /// The resource is no longer there.
    Deletes,
}

/// One row: what is to be known of an action.
#[derive(Debug)]
pub struct ActionInfo {
    /// The action.
    pub action: ActionType,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The name of the shape of its parameters.
    pub shape: &'static str,
    /// The names of its parameters on the wire.
    pub parameters: &'static [&'static str],
    /// What it does to the resource that it gives.
    pub effect: Effect,
    /// The kind of resource that it gives.
    pub produces: ResourceType,
    /// The least authority that it needs.
    pub needs: AuthorizationLevel,
}

macro_rules! actions {
    ($(
        $doc:literal
        $Action:ident = $word:literal takes $Shape:ident, $Effect:ident $Resource:ident, needs $Level:ident;
    )*) => {
        choice! {
            /// A platform action.
            pub enum ActionType { $( #[doc = $doc] $Action = $word ),* }
        }

        /// What an action is carried out with: for each action its own.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Parameters { $( #[doc = $doc] $Action(parameters::$Shape), )* }

        /// Every action, in the order of [`ActionType`].
        pub static ACTIONS: &[ActionInfo] = &[$(
            ActionInfo {
                action: ActionType::$Action,
                summary: $doc,
                shape: stringify!($Shape),
                parameters: parameters::$Shape::FIELDS,
                effect: Effect::$Effect,
                produces: ResourceType::$Resource,
                needs: AuthorizationLevel::$Level,
            }
        ),*];

        impl Parameters {
            /// The action that they belong to.
            pub fn action(&self) -> ActionType {
                match self { $( Self::$Action(_) => ActionType::$Action ),* }
            }

            fn read(action: ActionType, at: Cursor<'_>, report: &mut Report) -> Option<Self> {
                match action {
                    $( ActionType::$Action => parameters::$Shape::read(at, report).map(Self::$Action) ),*
                }
            }

            /// For each action the schema of its parameters.
            fn schemas(schemas: &mut Schemas) -> Vec<(&'static str, Value)> {
                vec![$( ($word, parameters::$Shape::schema(schemas)) ),*]
            }
        }

        impl Serialize for Parameters {
            fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                match self { $( Self::$Action(parameters) => parameters.serialize(out) ),* }
            }
        }
    };
}

actions! {
    "Opens an issue."
    CreateGithubIssue = "CREATE_GITHUB_ISSUE" takes CreateIssue, Creates Issue, needs Autonomous;
    "Changes an issue."
    UpdateGithubIssue = "UPDATE_GITHUB_ISSUE" takes UpdateIssue, Updates Issue, needs HumanApproved;
    "Closes an issue."
    CloseGithubIssue = "CLOSE_GITHUB_ISSUE" takes CloseIssue, Updates Issue, needs HumanApproved;
    "Puts labels on an issue."
    AddIssueLabels = "ADD_ISSUE_LABELS" takes IssueLabels, Updates Issue, needs Autonomous;
    "Takes labels off an issue."
    RemoveIssueLabels = "REMOVE_ISSUE_LABELS" takes IssueLabels, Updates Issue, needs Autonomous;
    "Assigns people to an issue."
    AssignIssue = "ASSIGN_ISSUE" takes IssueAssignees, Updates Issue, needs Autonomous;
    "Comments on an issue."
    CommentOnIssue = "COMMENT_ON_ISSUE" takes IssueComment, Creates Comment, needs Autonomous;
    "Links two issues."
    LinkIssues = "LINK_ISSUES" takes IssueLink, Updates Issue, needs Autonomous;
    "Opens a pull request."
    CreatePullRequest = "CREATE_PULL_REQUEST" takes CreatePullRequest, Creates PullRequest, needs HumanApproved;
    "Changes a pull request."
    UpdatePullRequest = "UPDATE_PULL_REQUEST" takes UpdatePullRequest, Updates PullRequest, needs HumanApproved;
    "Closes a pull request without merging it."
    ClosePullRequest = "CLOSE_PULL_REQUEST" takes ClosePullRequest, Updates PullRequest, needs HumanApproved;
    "Merges a pull request."
    MergePullRequest = "MERGE_PULL_REQUEST" takes MergePullRequest, Updates PullRequest, needs HumanApproved;
    "Asks people to review a pull request."
    RequestPrReview = "REQUEST_PR_REVIEW" takes PullRequestReviewers, Updates PullRequest, needs Autonomous;
    "Puts labels on a pull request."
    AddPrLabels = "ADD_PR_LABELS" takes PullRequestLabels, Updates PullRequest, needs Autonomous;
    "Takes labels off a pull request."
    RemovePrLabels = "REMOVE_PR_LABELS" takes PullRequestLabels, Updates PullRequest, needs Autonomous;
    "Comments on a pull request."
    CommentOnPr = "COMMENT_ON_PR" takes PullRequestComment, Creates Comment, needs Autonomous;
    "Approves a pull request."
    ApprovePr = "APPROVE_PR" takes PullRequestApproval, Creates Review, needs HumanApproved;
    "Asks for changes to a pull request."
    RequestPrChanges = "REQUEST_PR_CHANGES" takes PullRequestChanges, Creates Review, needs Autonomous;
    "Makes a branch."
    CreateBranch = "CREATE_BRANCH" takes CreateBranch, Creates Branch, needs Autonomous;
    "Deletes a branch."
    DeleteBranch = "DELETE_BRANCH" takes DeleteBranch, Deletes Branch, needs HumanApproved;
    "Makes a tag."
    CreateTag = "CREATE_TAG" takes CreateTag, Creates Tag, needs HumanApproved;
    "Deletes a tag."
    DeleteTag = "DELETE_TAG" takes DeleteTag, Deletes Tag, needs HumanApproved;
    "Changes what protects a branch."
    UpdateBranchProtection = "UPDATE_BRANCH_PROTECTION" takes BranchProtection, Updates Branch, needs HumanApproved;
    "Starts a run of a workflow."
    TriggerWorkflow = "TRIGGER_WORKFLOW" takes TriggerWorkflow, Creates Workflow, needs HumanApproved;
    "Stops a run of a workflow."
    CancelWorkflow = "CANCEL_WORKFLOW" takes WorkflowRun, Updates Workflow, needs HumanApproved;
    "Runs a workflow again."
    RerunWorkflow = "RERUN_WORKFLOW" takes WorkflowRun, Updates Workflow, needs HumanApproved;
}

impl ActionType {
    /// The row of this action.
    pub fn info(self) -> &'static ActionInfo {
        // The rows and the variants come from one list, so that they are in one order.
        &ACTIONS[self as usize]
    }
}

impl Parameters {
    /// The names of branches and tags among them, each with its field.
    pub fn refs(&self) -> [Option<(&'static str, &str, RefKind)>; 2] {
        let branch = |name| [Some(("BRANCH_NAME", name, RefKind::Branch)), None];
        let tag = |name| [Some(("TAG_NAME", name, RefKind::Tag)), None];
        match self {
            Self::CreatePullRequest(it) => [
                Some(("HEAD_BRANCH", it.head_branch.as_str(), RefKind::Head)),
                Some(("BASE_BRANCH", it.base_branch.as_str(), RefKind::Branch)),
            ],
            Self::CreateBranch(it) => branch(it.branch_name.as_str()),
            Self::DeleteBranch(it) => branch(it.branch_name.as_str()),
            Self::UpdateBranchProtection(it) => branch(it.branch_name.as_str()),
            Self::CreateTag(it) => tag(it.tag_name.as_str()),
            Self::DeleteTag(it) => tag(it.tag_name.as_str()),
            Self::TriggerWorkflow(it) => [Some(("REF", it.reference.as_str(), RefKind::Either)), None],
            _ => [None, None],
        }
    }

    /// The number that the action is about, where it says one and a resource has another.
    pub fn number_instead_of(&self, found: i64) -> Option<i64> {
        let [first, second] = self.numbers();
        first.filter(|named| *named != found && second != Some(found))
    }

    /// The numbers of the issues or of the pull request that the action is about, if it says.
    pub fn numbers(&self) -> [Option<i64>; 2] {
        let number = match self {
            Self::LinkIssues(it) => {
                return [Some(it.source_issue_number.get()), Some(it.target_issue_number.get())];
            }
            Self::UpdateGithubIssue(it) => it.issue_number,
            Self::CloseGithubIssue(it) => it.issue_number,
            Self::AddIssueLabels(it) | Self::RemoveIssueLabels(it) => it.issue_number,
            Self::AssignIssue(it) => it.issue_number,
            Self::CommentOnIssue(it) => it.issue_number,
            Self::UpdatePullRequest(it) => it.pr_number,
            Self::ClosePullRequest(it) => it.pr_number,
            Self::MergePullRequest(it) => it.pr_number,
            Self::RequestPrReview(it) => it.pr_number,
            Self::AddPrLabels(it) | Self::RemovePrLabels(it) => it.pr_number,
            Self::CommentOnPr(it) => it.pr_number,
            Self::ApprovePr(it) => it.pr_number,
            Self::RequestPrChanges(it) => it.pr_number,
            _ => return [None, None],
        };
        [Some(number.get()), None]
    }
}

/// An action with its parameters: `{ "TYPE": …, "PARAMETERS": … }`, where the first says what the second may hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// The parameters, which know their action.
    pub parameters: Parameters,
}

impl Action {
    /// The names of the fields on the wire.
    pub const FIELDS: &'static [&'static str] = &["TYPE", "PARAMETERS"];

    /// Which action it is.
    pub fn kind(&self) -> ActionType {
        self.parameters.action()
    }

    /// The action that this one comes to: an update that sets the state to closed is a closing.
    pub fn amounts_to(&self) -> ActionType {
        use parameters::State::Closed;
        match &self.parameters {
            Parameters::UpdateGithubIssue(update) if update.state == Some(Closed) => ActionType::CloseGithubIssue,
            Parameters::UpdatePullRequest(update) if update.state == Some(Closed) => ActionType::ClosePullRequest,
            other => other.action(),
        }
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(Some(2))?;
        map.serialize_entry("TYPE", &self.kind())?;
        map.serialize_entry("PARAMETERS", &self.parameters)?;
        map.end()
    }
}

impl Shape for Action {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if !report.expect(at, Kind::Object) {
            return None;
        }
        let (mut kind, mut parameters) = (None, None);
        for (key, value) in at.entries() {
            match key.text().unwrap_or_default() {
                "TYPE" => kind = Some(value),
                "PARAMETERS" => parameters = Some(value),
                _ => report.unknown_field(at, key, Self::FIELDS, false),
            }
        }
        let kind = match kind {
            Some(kind) => ActionType::read(kind, report),
            None => ActionType::absent(at, "TYPE", report),
        };
        let Some(parameters) = parameters else {
            report.missing(at, "PARAMETERS");
            return None;
        };
        let Some(kind) = kind else {
            // Which parameters there should be is not known, but that they are an object is.
            report.expect(parameters, Kind::Object);
            return None;
        };
        report.explain_unknown(Some((kind.as_str(), explain_parameter)));
        let parameters = Parameters::read(kind, parameters, report);
        report.explain_unknown(None);
        parameters.map(|parameters| Self { parameters })
    }

    fn schema(schemas: &mut Schemas) -> Value {
        schemas.refer("Action", |schemas| {
            let each: Vec<Value> = Parameters::schemas(schemas)
                .into_iter()
                .map(|(word, schema)| {
                    json!({
                        "if": { "properties": { "TYPE": { "const": word } } },
                        "then": { "properties": { "PARAMETERS": schema } },
                    })
                })
                .collect();
            let shapes: Vec<String> = ACTIONS.iter().map(|it| format!("{} takes {}", it.action, it.shape)).collect();
            let kind = reference::described(ActionType::schema(schemas), "Which action.");
            let parameters = format!("What it is carried out with. {}.", shapes.join(", "));
            json!({
                "type": "object",
                "description": "An action with its parameters; which these may be depends on the action.",
                "properties": {
                    "TYPE": kind,
                    "PARAMETERS": { "type": "object", "description": parameters },
                },
                "required": Self::FIELDS,
                "allOf": each,
            })
        })
    }

    fn example() -> Value {
        json!({ "TYPE": ActionType::ClosePullRequest.as_str(), "PARAMETERS": parameters::ClosePullRequest::example() })
    }
}

/// What to say of a parameter that `action` does not have but others do.
fn explain_parameter(action: &str, name: &str) -> Option<String> {
    let owners: Vec<&str> =
        ACTIONS.iter().filter(|it| it.parameters.contains(&name)).map(|it| it.action.as_str()).collect();
    let own = ActionType::parse(action)?.info().parameters.join("`, `");
    let (first, rest) = owners.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(format!("`{}` belongs to {first}{more}, not to {action}, which takes `{own}`", show(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_actions() {
        assert_eq!(ACTIONS.len(), 26);
        assert!(ACTIONS.iter().zip(ActionType::ALL).all(|(row, action)| row.action == *action));
        assert!(ActionType::ALL.iter().all(|action| action.info().action == *action));
    }
}
