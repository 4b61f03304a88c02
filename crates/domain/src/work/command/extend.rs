//! More time for a worker.

use super::task_spec::TIMEOUT_SECONDS_MAX;
use super::{TASK_CODES, TASK_VIEWS, TaskAnswer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, LeaseStep, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_EXTENDED;
use crate::work::picking;
use countersign_contract::{Int, Text, shape};
use serde_json::json;

shape! {
    /// Change how long a worker may be silent, from now on.
    pub closed struct Extend {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The number of the lease.
        pub lease: Option<Int>,
        /// How long its worker may be silent.
        pub timeout_seconds: Int<30, TIMEOUT_SECONDS_MAX>,
        /// Why.
        pub reason: Text<1, 500> = "the test suite takes long",
    }
}

impl Command for Extend {
    const INFO: CommandInfo = CommandInfo {
        id: "task.extend",
        summary: "Change how long a worker may be silent",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: TASK_CODES,
        writes: Writes::Events,
    };
    type Answer = TaskAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        picking::task_needs(self.run_id.as_ref(), &self.task_id, seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        let task = picking::task(&run, &self.task_id, desk.seen())?;
        let hold = picking::own_lease(&task, self.lease.map(|lease| lease.get().unsigned_abs()), desk)?;
        let seconds = self.timeout_seconds.get();
        let facts = json!({
            "lease": hold.number, "reason": self.reason, "run": run.run, "task": task.task, "timeout_seconds": seconds,
        });
        desk.write_under(task.lease_name(), hold.number);
        let lease = LeaseStep::Extend { name: task.lease_name(), number: hold.number, ttl: seconds * 1000 };
        desk.record(Happening::of_run(TASK_EXTENDED, &run.run, facts).with_lease(lease));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        let event = stored.events.first();
        let mut answer = super::task_answer(stored);
        answer.lease = event.and_then(|event| event.facts["lease"].as_u64()).map(Int::from);
        answer.expires_at = event.and_then(|event| super::expiry(event, self.timeout_seconds.get()));
        answer
    }
}
