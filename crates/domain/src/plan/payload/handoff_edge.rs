//! What one task hands over to another.

use super::{OneOrMany, Span};
use crate::handoff::payload::ProblemType;
use crate::ids::TaskId;
use countersign_contract::{Int, Text, shape};

shape! {
    /// A handoff between two tasks: the second one depends on the first, and is told what came of it.
    pub closed struct HandoffEdge {
        /// The task that hands over.
        pub from: TaskId = "T-1",
        /// The task that takes over. It depends on the other one, whether or not it says so.
        pub to: TaskId = "T-2",
        /// How many tokens it may have; as many as the contract allows, if it is not said.
        pub max_tokens: Option<Int<1>>,
        /// What sort of problem the next task has; `implementation`, if it is not said.
        pub problem_type: Option<ProblemType>,
        /// A program that reads a text on standard input and writes a shorter one.
        pub summarizer: Option<OneOrMany<Text>>,
        /// How long after it was made it may be acted on; for ever, if it is not said.
        pub expires: Option<Span>,
        /// Why it is handed over.
        pub reason: Option<Text<1, 500>>,
        /// Whether a person agreed to it, as a chain of more than five tasks asks for.
        pub approved: Option<bool>,
    }
}

impl HandoffEdge {
    /// The same in a few words.
    pub fn says(&self) -> String {
        format!("{} → {}", self.from, self.to)
    }
}
