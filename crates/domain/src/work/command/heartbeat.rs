//! A sign of life.

use super::{TASK_CODES, TaskAnswer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::work::{attempt, picking};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Timestamp, shape};

/// How far ahead of ours another clock may be.
const AHEAD_MAX_MS: i64 = 30_000;

shape! {
    /// Give a sign of life: the lease lasts its whole length from now on.
    pub closed struct Heartbeat {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The number of the lease.
        pub lease: Option<Int>,
        /// When it was given, by the worker's clock.
        pub last_heartbeat_at: Option<Timestamp>,
    }
}

impl Command for Heartbeat {
    const INFO: CommandInfo = CommandInfo {
        id: "task.heartbeat",
        summary: "Give a sign of life, so that the lease goes on",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: &["task.show", "task.list", "lock.who", "lock.list", "lock.mine", "bundle.make"],
        refuses: TASK_CODES,
        writes: Writes::Liveness,
    };
    type Answer = TaskAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        picking::task_needs(self.run_id.as_ref(), &self.task_id, seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::run_at(self.run_id.as_ref(), desk.seen())?;
        let task = picking::task_at(&run, &self.task_id, desk.seen())?;
        let ahead = self.last_heartbeat_at.as_ref().map(|time| time.instant().as_millisecond() - desk.moment().now_ms);
        if let Some(ahead) = ahead.filter(|ahead| *ahead > AHEAD_MAX_MS) {
            let reason = format!("this sign of life lies {} s in the future", ahead / 1000);
            let help = "say when it really came; check the clocks of both machines";
            return Err(Refusal::new(Code::SchemaInvalid, reason, help).of_run(&run.run));
        }
        let given = self.lease.map(|lease| lease.get().unsigned_abs());
        match picking::own_lease(&task, given, desk) {
            Ok(hold) => {
                desk.keep_alive(task.lease_name(), hold.number);
                Ok(())
            }
            Err(refusal) => {
                // It comes too late, and is the first to notice.
                attempt::settle(desk, &task);
                Err(refusal)
            }
        }
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        TaskAnswer {
            run_id: self.run_id.as_ref().map(|run| run.as_str().to_owned()),
            task_id: Some(self.task_id.as_str().to_owned()),
            status: None,
            owner: None,
            lease: self.lease,
            expires_at: stored.deadline.map(picking::said),
            assurance: None,
            reason: None,
            seq: None,
        }
    }
}
