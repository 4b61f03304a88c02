//! An instruction that was handed in, as far as it can be read.

use super::Executor;
use countersign_contract::diagnostic::Source;
use countersign_contract::{Outside, Request, check};
use countersign_domain::delegation::payload::DelegationInstruction;
use countersign_engine::World;

/// An instruction that was handed in.
pub struct Handed {
    /// The instruction, if its shape can be read.
    pub(super) instruction: Option<DelegationInstruction>,
    /// Whether it is valid as far as can be told without what lies about it; the domain has the last word.
    pub(super) valid: bool,
}

impl Handed {
    /// Reads it. `file` is what it is called.
    pub fn read(world: &dyn World, file: &str, text: &str) -> Self {
        let outside = Outside::default();
        let request = Request {
            contract: Some("delegation_instruction"),
            ..Request::alone(Source { name: file, text }, &outside)
        };
        let checked = check(&world.checker(), &request);
        let valid = checked.decision.allow;
        let record = checked.records.first().and_then(|record| record.downcast_ref::<DelegationInstruction>());
        Self { instruction: record.cloned(), valid }
    }

    /// Lets an executor look at what it will be asked, while something else is done. What is not valid is not shown to it.
    pub fn foresee(&self, executor: &dyn Executor) {
        if let Some(instruction) = self.instruction.as_ref().filter(|_| self.valid) {
            executor.foresee(instruction);
        }
    }
}
