//! The plan that a run follows.

use super::event::PLAN_ADOPTED;
use super::state::plan_key;
use crate::deciding::{Happened, Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::RunId;
use crate::work::picking;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Untrusted, shape};

shape! {
    /// The plan that a run follows, as it was adopted.
    pub closed struct ShowPlan {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
    }
}

shape! {
    /// A plan that a run follows.
    pub struct PlanShown {
        /// The run.
        pub run_id: String,
        /// The plan, in canonical JSON.
        pub plan: Untrusted<String>,
        /// The SHA-256 of that.
        pub sha256: String,
    }
}

impl View for ShowPlan {
    const INFO: ViewInfo = ViewInfo { id: "run.plan", summary: "The plan that a run follows, as it was adopted" };
    type Shown = PlanShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let found = seen.so_far(&plan_key(&run)).and_then(|found| found.facts["seq"].as_u64());
        needs.extend(found.map(Need::Texts));
        needs.push(Need::Entity(plan_key(&run)));
        needs
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<PlanShown, Refusal> {
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let Some(found) = seen.entity(&plan_key(&run.run)) else {
            let reason = format!("run {} follows no plan", run.run);
            let help = "a run with a plan is started with `countersign run PLAN`";
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_run(&run.run).of_absent());
        };
        let seq = found.facts["seq"].as_u64().unwrap_or(0);
        let plan = seen.text(seq, 0).cloned().unwrap_or_else(|| Untrusted::new("(erased)".to_owned()));
        Ok(PlanShown { run_id: run.run, plan, sha256: found.facts["sha256"].as_str().unwrap_or_default().to_owned() })
    }
}

/// What an event says. Nothing, if it is of another domain.
pub fn summary(event: &Happened<'_>) -> Option<String> {
    (event.kind == PLAN_ADOPTED).then(|| format!("{} tasks", event.facts["tasks"].as_u64().unwrap_or(0)))
}
