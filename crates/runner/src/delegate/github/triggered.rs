//! Whether a workflow was triggered by an instruction. The platform gives a run no mark of who asked for it, so that it is told
//! by what it does have: the event, the branch, the time, who triggered it, and the commit.
//!
//! | runs of that event and branch since then, by the owner of the token | |
//! |---|---|
//! | none | it was not triggered |
//! | one, of the commit that the branch is at | that is it |
//! | one of another commit, several, or nobody knows who the owner is | it cannot be told, and is not claimed |

use super::pages::{self, Listed, Page};
use super::step::{Blind, Probe, Reading};
use super::table::escaped;
use serde_json::Value;

/// How many are named where it cannot be told.
const NAMED_MAX: usize = 5;

/// The runs of a workflow on a branch, from a time on.
struct Runs {
    list: String,
    branch: String,
    from: Option<jiff::Timestamp>,
}

impl Runs {
    fn of(workflow: &str, reference: &str, from: &str) -> Self {
        let short = reference.strip_prefix("refs/heads/").or(reference.strip_prefix("refs/tags/")).unwrap_or(reference);
        let (branch, since) = (escaped(short, false), escaped(from, false));
        let query = format!("event=workflow_dispatch&branch={branch}&created=%3E%3D{since}");
        let list = format!("{workflow}/runs?{query}");
        Self { list, branch: short.to_owned(), from: from.parse().ok() }
    }

    /// All of them, and whether the platform knows of more than it lists.
    fn all(&self, read: &Reading<'_>) -> Result<(Vec<Value>, bool), Blind> {
        let (mut all, mut listed, mut known) = (Vec::new(), 0, 0);
        pages::through(read, &self.list, Some("workflow_runs"), |runs, body| {
            listed += runs.len() as u64;
            known = body["total_count"].as_u64().unwrap_or_default();
            all.extend(runs.iter().filter(|run| self.has(run)).cloned());
            None::<Listed<()>>
        })?;
        Ok((all, known > listed))
    }

    fn has(&self, run: &Value) -> bool {
        let made = run["created_at"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
        run["event"] == "workflow_dispatch"
            && run["head_branch"] == self.branch.as_str()
            && made.zip(self.from).is_some_and(|(made, from)| made >= from)
    }
}

/// Whether the workflow ran at all on a branch, from a time on. Whose run it is matters only to whoever would trigger it again.
pub(super) fn ran(workflow: &str, reference: &str, from: &str) -> Probe {
    let runs = Runs::of(workflow, reference, from);
    Box::new(move |read: &Reading<'_>| {
        let first = |listed: &[Value], _: &Value| listed.iter().find(|run| runs.has(run)).cloned().map(Listed::Found);
        Ok(match pages::through(read, &runs.list, Some("workflow_runs"), first)? {
            Listed::Found(run) => Some(run),
            Listed::Nothing | Listed::Refused => None,
        })
    })
}

/// Looks for the run of a workflow on a branch, from a time on.
pub(super) fn probe(root: &str, workflow: &str, reference: &str, from: &str) -> Probe {
    let runs = Runs::of(workflow, reference, from);
    let commit = format!("{root}/commits/{}", escaped(&runs.branch, false));
    Box::new(move |read: &Reading<'_>| {
        let (all, more) = runs.all(read)?;
        let made: Vec<&Value> = all.iter().collect();
        if made.is_empty() {
            return Ok(None);
        }
        let Page { status, body: owner, .. } = read("/user")?;
        let Some(owner) = owner["login"].as_str().filter(|_| status < 300) else {
            return Err(unclear(&made, "and the platform does not say whose the token is"));
        };
        let by_owner = |run: &&&Value| {
            let is = |who: &str| run[who]["login"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(owner));
            is("triggering_actor") || is("actor")
        };
        let own: Vec<&Value> = made.iter().filter(by_owner).copied().collect();
        match own.as_slice() {
            [] if !more => Ok(None),
            [run] if !more => {
                let Page { status, body: head, .. } = read(&commit)?;
                let sha = head["sha"].as_str().filter(|_| status < 300);
                if sha.is_some() && run["head_sha"].as_str() == sha {
                    Ok(Some((*run).clone()))
                } else {
                    Err(unclear(&own, "and the branch is at another commit than it"))
                }
            }
            _ => Err(unclear(&own, "and nothing tells which of them")),
        }
    })
}

fn unclear(runs: &[&Value], why: &str) -> Blind {
    let ids = runs.iter().take(NAMED_MAX).map(|run| run["id"].to_string()).collect::<Vec<_>>().join(", ");
    Blind::Unclear(format!(
        "whether it was triggered is not known: {} of the workflow's runs may be it ({ids}), {why}; it was not triggered again",
        runs.len()
    ))
}
