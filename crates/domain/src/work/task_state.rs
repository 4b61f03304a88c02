//! The states of a task, and which may follow which.

use countersign_contract::choice;

choice! {
    /// The state of a task.
    pub enum TaskStatus {
        /// Waits to be given out.
        Todo = "todo",
        /// Somebody works on it and holds its locks.
        InProgress = "in_progress",
        /// Waits for something that its blocker names.
        Blocked = "blocked",
        /// Finished, with every criterion met.
        Done = "done",
        /// Given up.
        Failed = "failed",
        /// Not wanted any more.
        Canceled = "canceled",
    }
}

impl TaskStatus {
    /// Whether nothing may follow.
    pub fn is_final(self) -> bool {
        matches!(self, TaskStatus::Done | TaskStatus::Failed | TaskStatus::Canceled)
    }

    /// The states that may follow this one. Repeating a state is no transition.
    pub fn next(self) -> &'static [TaskStatus] {
        use TaskStatus::{Blocked, Canceled, Done, Failed, InProgress, Todo};
        match self {
            Todo => &[InProgress, Blocked, Failed, Canceled],
            InProgress => &[Done, Blocked, Failed, Canceled],
            Blocked => &[Todo, InProgress, Failed, Canceled],
            Done | Failed | Canceled => &[],
        }
    }

    /// Whether a task in this state may be said to be in the state `to`: a legal transition, or none at all.
    pub fn allows(self, to: TaskStatus) -> bool {
        self == to || self.next().contains(&to)
    }
}

#[cfg(test)]
mod tests {
    use super::TaskStatus::{self, Blocked, Done, InProgress, Todo};

    #[test]
    fn transitions_are_those_of_the_table() {
        let table = [
            // to: todo, in_progress, blocked, done, failed, canceled
            (Todo, [true, true, true, false, true, true]),
            (InProgress, [false, true, true, true, true, true]),
            (Blocked, [true, true, true, false, true, true]),
            (Done, [false, false, false, true, false, false]),
            (TaskStatus::Failed, [false, false, false, false, true, false]),
            (TaskStatus::Canceled, [false, false, false, false, false, true]),
        ];
        for (from, expected) in table {
            let allowed: Vec<bool> = TaskStatus::ALL.iter().map(|to| from.allows(*to)).collect();
            assert_eq!(allowed, expected, "{from}");
            assert_eq!(from.is_final(), from.next().is_empty(), "{from}");
        }
    }
}
