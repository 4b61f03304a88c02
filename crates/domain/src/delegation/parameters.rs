//! What each action is carried out with. Actions that take the same share a shape.
//!
//! Texts that will stand on the platform for others to read are untrusted: they are data, whatever they say.

use super::payload::TextOr;
use countersign_contract::{Int, JsonObject, List, Name, Text, Untrusted, choice, pattern, shape};

/// The number of an issue or a pull request.
pub type Number = Int<1>;
/// A heading of 1 to 256 characters.
pub type Title = Untrusted<Text<1, 256>>;
/// A text of any length.
pub type Body = Untrusted<Text>;
/// At least one name.
pub type Names = List<Name, 1>;

pattern! {
    /// A commit by its full SHA-1.
    pub struct Sha {
        pattern: r"^[0-9a-fA-F]{40}$",
        example: "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80",
        says: "a full commit id of 40 hexadecimal digits",
        test: |text| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
    }
}

choice! {
    /// Whether an issue or a pull request is open.
    pub enum State {
        /// Open.
        Open = "open",
        /// Closed.
        Closed = "closed",
    }
}

choice! {
    /// Why an issue is closed.
    pub enum StateReason {
        /// It is done.
        Completed = "completed",
        /// It will not be done.
        NotPlanned = "not_planned",
    }
}

choice! {
    /// How one issue stands to another.
    pub enum Relationship {
        /// The other waits for it.
        Blocks = "blocks",
        /// It waits for the other.
        BlockedBy = "blocked_by",
        /// They have to do with each other.
        RelatesTo = "relates_to",
    }
}

choice! {
    /// How a pull request is merged.
    pub enum MergeMethod {
        /// With a merge commit.
        Merge = "merge",
        /// As one commit.
        Squash = "squash",
        /// Commit by commit on top.
        Rebase = "rebase",
    }
}

choice! {
    /// What kind of tag it is.
    pub enum TagType {
        /// A name for a commit.
        Lightweight = "lightweight",
        /// An object with a message.
        Annotated = "annotated",
    }
}

shape! {
    /// Opens an issue.
    pub struct CreateIssue {
        /// Its heading.
        pub title as "TITLE": Title,
        /// Its text.
        pub body as "BODY": Body,
        /// Its labels.
        pub labels as "LABELS": Option<List<Name>>,
        /// Who is to work on it.
        pub assignees as "ASSIGNEES": Option<List<Name>>,
        /// Its milestone, by number or name.
        pub milestone as "MILESTONE": Option<TextOr<Number>>,
    }
}

shape! {
    /// Changes an issue: what is given is set, the rest stays.
    pub struct UpdateIssue {
        /// Which issue.
        pub issue_number as "ISSUE_NUMBER": Number,
        /// Its new heading.
        pub title as "TITLE": Option<Title>,
        /// Its new text.
        pub body as "BODY": Option<Body>,
        /// Its new state; `closed` counts as closing it.
        pub state as "STATE": Option<State>,
        /// Why it is closed; only with `STATE` closed.
        pub state_reason as "STATE_REASON": Option<StateReason>,
    }
}

shape! {
    /// Closes an issue.
    pub struct CloseIssue {
        /// Which issue.
        pub issue_number as "ISSUE_NUMBER": Number,
        /// Why.
        pub state_reason as "STATE_REASON": Option<StateReason>,
        /// What to say there.
        pub comment as "COMMENT": Option<Body>,
    }
}

shape! {
    /// Labels of an issue, to be put on or taken off.
    pub struct IssueLabels {
        /// Which issue.
        pub issue_number as "ISSUE_NUMBER": Number,
        /// Which labels.
        pub labels as "LABELS": Names,
    }
}

shape! {
    /// Assigns people to an issue.
    pub struct IssueAssignees {
        /// Which issue.
        pub issue_number as "ISSUE_NUMBER": Number,
        /// Whom.
        pub assignees as "ASSIGNEES": Names,
    }
}

shape! {
    /// Comments on an issue.
    pub struct IssueComment {
        /// Which issue.
        pub issue_number as "ISSUE_NUMBER": Number,
        /// What to say.
        pub comment_body as "COMMENT_BODY": Body,
    }
}

shape! {
    /// Links two issues.
    pub struct IssueLink {
        /// The issue that is linked.
        pub source_issue_number as "SOURCE_ISSUE_NUMBER": Number,
        /// The issue that it is linked to.
        pub target_issue_number as "TARGET_ISSUE_NUMBER": Number,
        /// How the first stands to the second.
        pub relationship as "RELATIONSHIP": Relationship,
    }
}

shape! {
    /// Opens a pull request.
    pub struct CreatePullRequest {
        /// The branch that has the changes, or `owner:branch`.
        pub head_branch as "HEAD_BRANCH": Text,
        /// The branch that is to take them.
        pub base_branch as "BASE_BRANCH": Text,
        /// Its heading.
        pub title as "TITLE": Title,
        /// Its text.
        pub body as "BODY": Body,
        /// Whether it is a draft.
        pub draft as "DRAFT": Option<bool>,
        /// Its labels.
        pub labels as "LABELS": Option<List<Name>>,
        /// Who is to work on it.
        pub assignees as "ASSIGNEES": Option<List<Name>>,
        /// Who is to review it.
        pub reviewers as "REVIEWERS": Option<List<Name>>,
    }
}

shape! {
    /// Changes a pull request: what is given is set, the rest stays.
    pub struct UpdatePullRequest {
        /// Which pull request.
        pub pr_number as "PR_NUMBER": Number,
        /// Its new heading.
        pub title as "TITLE": Option<Title>,
        /// Its new text.
        pub body as "BODY": Option<Body>,
        /// Its new state; `closed` counts as closing it.
        pub state as "STATE": Option<State>,
    }
}

shape! {
    /// Closes a pull request without merging it.
    pub struct ClosePullRequest {
        /// Which pull request.
        pub pr_number as "PR_NUMBER": Number = 42,
        /// What to say there.
        pub comment as "COMMENT": Option<Body>,
    }
}

shape! {
    /// Merges a pull request.
    pub struct MergePullRequest {
        /// Which pull request.
        pub pr_number as "PR_NUMBER": Number,
        /// How.
        pub merge_method as "MERGE_METHOD": MergeMethod,
        /// The heading of the commit.
        pub commit_title as "COMMIT_TITLE": Option<Title>,
        /// The rest of its message.
        pub commit_message as "COMMIT_MESSAGE": Option<Body>,
        /// Whether the merged branch is deleted afterwards.
        pub delete_branch as "DELETE_BRANCH": Option<bool>,
    }
}

shape! {
    /// Asks people to review a pull request.
    pub struct PullRequestReviewers {
        /// Which pull request.
        pub pr_number as "PR_NUMBER": Number,
        /// Whom.
        pub reviewers as "REVIEWERS": Names,
    }
}

shape! {
    /// Labels of a pull request, to be put on or taken off.
    pub struct PullRequestLabels {
        /// Which pull request.
        pub pr_number as "PR_NUMBER": Number,
        /// Which labels.
        pub labels as "LABELS": Names,
    }
}

shape! {
    /// Comments on a pull request.
    pub struct PullRequestComment {
        /// Which pull request.
        pub pr_number as "PR_NUMBER": Number,
        /// What to say.
        pub comment_body as "COMMENT_BODY": Body,
    }
}

shape! {
    /// Approves a pull request.
    pub struct PullRequestApproval {
        /// Which pull request.
        pub pr_number as "PR_NUMBER": Number,
        /// What to say with it.
        pub review_body as "REVIEW_BODY": Option<Body>,
    }
}

shape! {
    /// Asks for changes to a pull request.
    pub struct PullRequestChanges {
        /// Which pull request.
        pub pr_number as "PR_NUMBER": Number,
        /// Which changes.
        pub review_body as "REVIEW_BODY": Body,
    }
}

shape! {
    /// Makes a branch.
    pub struct CreateBranch {
        /// Its name.
        pub branch_name as "BRANCH_NAME": Text,
        /// The commit that it begins at.
        pub source_sha as "SOURCE_SHA": Sha,
    }
}

shape! {
    /// Deletes a branch.
    pub struct DeleteBranch {
        /// Its name.
        pub branch_name as "BRANCH_NAME": Text,
    }
}

shape! {
    /// Makes a tag.
    pub struct CreateTag {
        /// Its name.
        pub tag_name as "TAG_NAME": Text,
        /// The commit that it names.
        pub target_sha as "TARGET_SHA": Sha,
        /// What kind of tag it is.
        pub tag_type as "TAG_TYPE": TagType,
        /// The message of an annotated tag.
        pub message as "MESSAGE": Option<Body>,
    }
}

shape! {
    /// Deletes a tag.
    pub struct DeleteTag {
        /// Its name.
        pub tag_name as "TAG_NAME": Text,
    }
}

shape! {
    /// Changes what protects a branch.
    pub struct BranchProtection {
        /// Which branch.
        pub branch_name as "BRANCH_NAME": Text,
        /// What is to protect it.
        pub protection_rules as "PROTECTION_RULES": ProtectionRules,
    }
}

shape! {
    /// What protects a branch.
    pub struct ProtectionRules {
        /// The checks that must pass.
        pub required_status_checks as "REQUIRED_STATUS_CHECKS": RequiredStatusChecks,
        /// Whether administrators are held to it too.
        pub enforce_admins as "ENFORCE_ADMINS": Option<bool>,
        /// The reviews that must be there.
        pub required_pull_request_reviews as "REQUIRED_PULL_REQUEST_REVIEWS": RequiredReviews,
        /// Who may push.
        pub restrictions as "RESTRICTIONS": Restrictions,
    }
}

shape! {
    /// The checks that must pass before a branch takes a change.
    pub struct RequiredStatusChecks {
        /// Whether the change must be up to date with the branch.
        pub strict as "STRICT": Option<bool>,
        /// The checks by name.
        pub contexts as "CONTEXTS": Option<List<Name>>,
    }
}

shape! {
    /// The reviews that must be there before a branch takes a change.
    pub struct RequiredReviews {
        /// How many must approve.
        pub required_approving_review_count as "REQUIRED_APPROVING_REVIEW_COUNT": Option<Int<1, 6>>,
        /// Whether a new commit makes earlier approvals void.
        pub dismiss_stale_reviews as "DISMISS_STALE_REVIEWS": Option<bool>,
        /// Whether the owners of the code must be among them.
        pub require_code_owner_reviews as "REQUIRE_CODE_OWNER_REVIEWS": Option<bool>,
    }
}

shape! {
    /// Who may push to a branch.
    pub struct Restrictions {
        /// These people.
        pub users as "USERS": Option<List<Name>>,
        /// These teams.
        pub teams as "TEAMS": Option<List<Name>>,
    }
}

shape! {
    /// Starts a run of a workflow.
    pub struct TriggerWorkflow {
        /// Which workflow, by its file or its id.
        pub workflow_id as "WORKFLOW_ID": TextOr<Number>,
        /// The branch or tag that it runs on.
        pub reference as "REF": Text,
        /// What it is given.
        pub inputs as "INPUTS": Option<JsonObject>,
    }
}

shape! {
    /// A run of a workflow, to be stopped or repeated.
    pub struct WorkflowRun {
        /// Which run.
        pub run_id as "RUN_ID": TextOr<Number>,
    }
}
