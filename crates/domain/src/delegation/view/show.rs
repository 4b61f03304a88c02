//! One instruction as it stands, with its audit entry and its response.

use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::delegation::payload::InstructionId;
use crate::delegation::row::{DelegationRow, delegation_key, delegation_of};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Untrusted, shape};

shape! {
    /// An instruction as it stands, with its audit entry and its response.
    pub closed struct ShowDelegation {
        /// The instruction.
        pub instruction_id: InstructionId,
    }
}

shape! {
    /// An instruction as it stands.
    pub struct DelegationShown {
        /// The instruction.
        pub instruction_id: String,
        /// `received`, `started` or `answered`.
        pub state: String,
        /// What is to be done.
        pub action: String,
        /// Where.
        pub repository: String,
        /// Who is to do it.
        pub executor: String,
        /// Whether it may be carried out.
        pub valid: bool,
        /// The id of its response.
        pub response_id: String,
        /// The id of its audit entry.
        pub audit_entry_id: String,
        /// How it was answered.
        pub status: Option<String>,
        /// Whether what was answered with success was found when somebody looked.
        pub found: Option<bool>,
        /// Until when somebody may be acting on it, in milliseconds since 1970.
        pub until: Option<Int>,
        /// Its audit entry, in JSON.
        pub audit_entry: Option<Untrusted<String>>,
        /// Its response, in JSON.
        pub response: Option<Untrusted<String>>,
    }
}

impl ShowDelegation {
    fn row(&self, seen: &Seen) -> Option<DelegationRow> {
        delegation_of(seen.so_far(&delegation_key(self.instruction_id.as_str())))
    }
}

impl View for ShowDelegation {
    const INFO: ViewInfo =
        ViewInfo { id: "delegation.show", summary: "An instruction, with its audit entry and its response" };
    type Shown = DelegationShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let row = self.row(seen);
        let texts = row.iter().flat_map(|row| [row.audited, row.answered.as_ref().map(|it| it.seq)]);
        let entity = Need::Entity(delegation_key(self.instruction_id.as_str()));
        texts.flatten().map(Need::Texts).chain([entity]).collect()
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<DelegationShown, Refusal> {
        let Some(row) = self.row(seen) else {
            let reason = format!("instruction {} has not been received", self.instruction_id);
            let help = "hand it in with `countersign delegate`";
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_absent());
        };
        let text = |seq: Option<u64>| seq.and_then(|seq| seen.text(seq, 0).cloned());
        Ok(DelegationShown {
            state: row.state().to_owned(),
            audit_entry: text(row.audited),
            response: text(row.answered.as_ref().map(|it| it.seq)),
            found: row.found.map(|it| it.holds),
            status: row.answered.map(|it| it.status),
            until: row.started.map(|it| it.until.unsigned_abs().into()),
            instruction_id: row.instruction_id,
            action: row.action,
            repository: row.repository,
            executor: row.executor,
            valid: row.valid,
            response_id: row.response_id,
            audit_entry_id: row.audit_entry_id,
        })
    }
}
