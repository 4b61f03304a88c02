use crate::handoff::payload::UniversalHandoff;
use crate::handoff::route::UNAPPROVED_MAX;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A chain of more than five workflows goes on only when a person has agreed: `user_approved` is true.
    ///
    /// ## Why
    /// Each handoff loses a little and costs a whole context. After five, somebody should have seen whether the work
    /// still gets anywhere.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"meta": {"handoff_chain": ["a", "b", "c", "d", "e", "skill-editor"]}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"meta": {"handoff_chain": ["a", "b", "c", "d", "skill-editor"]}}}
    /// ```
    /// ```json accepted
    /// {"handoff": {"meta": {"handoff_chain": ["a", "b", "c", "d", "e", "skill-editor"], "user_approved": true}}}
    /// ```
    pub static HANDOFF_CHAIN_UNAPPROVED: UniversalHandoff = {
        id: "handoff-chain-unapproved",
        code: CircularHandoff,
        severity: Error,
        summary: "a chain of more than five workflows has no approval",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let handoff = &it.record.handoff;
    let length = handoff.chain().len();
    if length > UNAPPROVED_MAX && handoff.meta.user_approved != Some(true) {
        report
            .add(
                Pointer::at("/handoff/meta/user_approved"),
                format!(
                    "the chain has {length} workflows and no approval; from {} on it needs one",
                    UNAPPROVED_MAX + 1
                ),
                "ask the user whether the work should go on, and write down what they say",
            )
            .label(Pointer::at("/handoff/meta/handoff_chain"), "the chain");
    }
}
