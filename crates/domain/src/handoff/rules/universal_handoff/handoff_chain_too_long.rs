use crate::handoff::ladder::CHAIN_MAX;
use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A chain names at most ten workflows. `fix` cuts its middle, leaves both ends, and keeps the whole in a file.
    ///
    /// ## Why
    /// A longer chain says little about where the work is and takes room from what the target needs. An entry of the
    /// target is never cut: it is what shows a circle.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"meta": {"user_approved": true,
    ///   "handoff_chain": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "skill-editor"]}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"meta": {"user_approved": true,
    ///   "handoff_chain": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "skill-editor"]}}}
    /// ```
    pub static HANDOFF_CHAIN_TOO_LONG: UniversalHandoff = {
        id: "handoff-chain-too-long",
        code: CircularHandoff,
        severity: Error,
        summary: "a chain names more than ten workflows",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let handoff = &it.record.handoff;
    let chain = handoff.chain();
    if chain.len() <= CHAIN_MAX {
        return;
    }
    let list = Pointer::at("/handoff/meta/handoff_chain");
    let message = format!("the chain names {} workflows, {CHAIN_MAX} are allowed", chain.len());
    report.add(list, message, "leave out the middle of the chain, and ask whether the work gets anywhere");
}
