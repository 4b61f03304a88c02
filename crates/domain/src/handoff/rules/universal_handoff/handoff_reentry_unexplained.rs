use crate::handoff::payload::{HandoffBody, UniversalHandoff};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::scan::same_name;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A target that was part of the chain before is entered again only with a `handoff_reason`.
    ///
    /// ## Why
    /// Work that comes back is either a loop or a deliberate second look. Only the source knows which, and two agents
    /// that send the same work to each other for ever would never say.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"handoff": {"meta": {"handoff_chain": ["programming-pm", "skill-editor"]}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"handoff": {"meta": {"handoff_chain": ["programming-pm", "skill-editor"],
    ///   "handoff_reason": "the new skill is ready to be built in"}}}
    /// ```
    pub static HANDOFF_REENTRY_UNEXPLAINED: UniversalHandoff = {
        id: "handoff-reentry-unexplained",
        code: CircularHandoff,
        severity: Error,
        summary: "the target was part of the chain before and no reason is given",
        check: check,
    }
}

fn check(it: &Subject<'_, UniversalHandoff>, report: &mut Report) {
    let handoff = &it.record.handoff;
    let target = &handoff.target.skill;
    // A handoff to its own source has a rule of its own, and no reason makes it right.
    if handoff.meta.handoff_reason.is_some() || same_name(target.as_str(), handoff.source.skill.as_str()) {
        return;
    }
    let Some(place) = handoff.chain().iter().position(|skill| same_name(skill.as_str(), target.as_str())) else {
        return;
    };
    let message = format!("`{}` was part of the chain before: {}", show(target.as_str()), drawing(handoff));
    let help = "say in `meta.handoff_reason` why it is entered again, or name another target";
    report
        .add(Pointer::at("/handoff/target/skill"), message, help)
        .label(Pointer::at("/handoff/meta/handoff_chain").item(place), "here");
}

/// The chain and where it goes next, as a line.
fn drawing(handoff: &HandoffBody) -> String {
    let mut names: Vec<String> = handoff.chain().iter().map(|skill| show(skill.as_str())).collect();
    names.push(show(handoff.target.skill.as_str()));
    const SHOWN_MAX: usize = 12;
    if names.len() > SHOWN_MAX {
        names.splice(SHOWN_MAX / 2..names.len() - SHOWN_MAX / 2, ["…".to_owned()]);
    }
    format!("`{}`", names.join(" → "))
}
