use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The chain begins with the workflow that began, and ends with the one that hands over now.
    ///
    /// ## Why
    /// Whoever reads the chain to see whether work goes in a circle must be able to trust that no step is missing,
    /// and the last step is the one that this handoff itself shows. No repair is offered: a chain that misses this step
    /// may miss others, and a source that is not on it may not be the one who hands over.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"meta": {"handoff_chain": ["lit-pm"]}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"meta": {"handoff_chain": ["lit-pm", "skill-editor"]}}}
    /// ```
    pub static HANDOFF_CHAIN_ENDS_ELSEWHERE: UniversalHandoff = {
        id: "handoff-chain-ends-elsewhere",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the last of the chain is not the source",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let handoff = &it.record.handoff;
    let (chain, source) = (handoff.chain(), &handoff.source.skill);
    let Some(last) = chain.last().filter(|last| *last != source) else { return };
    let list = Pointer::at("/handoff/meta/handoff_chain");
    let message = format!("the chain ends in `{}`, the source is `{}`", show(last.as_str()), show(source.as_str()));
    let help = "write the chain from the workflow that began to the source";
    report.add(list.item(chain.len() - 1), message, help).label(Pointer::at("/handoff/source/skill"), "the source");
}
