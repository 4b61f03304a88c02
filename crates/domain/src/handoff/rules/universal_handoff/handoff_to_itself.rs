use crate::handoff::payload::UniversalHandoff;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::scan::same_name;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A workflow hands over to another one, never to itself.
    ///
    /// ## Why
    /// A handoff to itself is a loop that costs a whole context each time round and changes nothing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"source": {"skill": "programming-pm"}, "target": {"skill": "programming-pm"}}}
    /// ```
    /// Nor is it another workflow because its name is written with other letters that look the same:
    /// ```json rejected
    /// {"handoff": {"source": {"skill": "programming-pm"}, "target": {"skill": "Progr\u0430mming-PM"}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"source": {"skill": "programming-pm"}, "target": {"skill": "technical-pm"}}}
    /// ```
    pub static HANDOFF_TO_ITSELF: UniversalHandoff = {
        id: "handoff-to-itself",
        code: CircularHandoff,
        severity: Error,
        summary: "a workflow hands over to itself",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let handoff = &it.record.handoff;
    if same_name(handoff.source.skill.as_str(), handoff.target.skill.as_str()) {
        let message = format!("`{}` hands over to itself", show(handoff.source.skill.as_str()));
        report
            .add(Pointer::at("/handoff/target/skill"), message, "go on without a handoff, or name another target")
            .label(Pointer::at("/handoff/source/skill"), "the source");
    }
}
