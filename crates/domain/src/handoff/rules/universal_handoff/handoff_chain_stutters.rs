use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// No workflow stands twice in a row in the chain.
    ///
    /// ## Why
    /// Two neighbours of one name are a handoff from a workflow to itself, or a step noted twice. In neither case
    /// does the chain show where the work has been.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"meta": {"handoff_chain": ["lit-pm", "lit-pm", "skill-editor"]}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"meta": {"handoff_chain": ["lit-pm", "skill-editor"]}}}
    /// ```
    pub static HANDOFF_CHAIN_STUTTERS: UniversalHandoff = {
        id: "handoff-chain-stutters",
        code: CircularHandoff,
        severity: Error,
        summary: "a workflow stands twice in a row in the chain",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    for (index, pair) in it.record.handoff.chain().windows(2).enumerate() {
        if pair[0] == pair[1] {
            let pointer = Pointer::at("/handoff/meta/handoff_chain").item(index + 1);
            let message = format!("`{}` stands twice in a row in the chain", show(pair[1].as_str()));
            report.add(pointer, message, "write each step of the chain once");
        }
    }
}
