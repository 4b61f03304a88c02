//! The kinds of agents that may ask and that may act: those built in, and those that the configuration names.

use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Settings, nearest, show};

/// Who may ask, whatever the configuration says.
pub const REQUESTERS: &[&str] = &["FOREMAN", "HUMAN"];
/// Who may act, whatever the configuration says.
pub const EXECUTORS: &[&str] = &["MATURION"];

/// Whether a kind of agent may ask.
pub(crate) fn is_requester(name: &str, settings: &Settings) -> bool {
    REQUESTERS.contains(&name) || settings.requesters.iter().any(|it| it == name)
}

/// Says so if who asks, as `/REQUESTER/AGENT_TYPE` names it, is of no kind that is known.
pub(crate) fn check_requester(name: &str, settings: &Settings, report: &mut Report) {
    check_known(name, REQUESTERS, &settings.requesters, "/REQUESTER/AGENT_TYPE", report);
}

/// Says so if who acts, as `/EXECUTOR/AGENT_TYPE` names it, is of no kind that is known.
pub(crate) fn check_executor(name: &str, settings: &Settings, report: &mut Report) {
    check_known(name, EXECUTORS, &settings.executors, "/EXECUTOR/AGENT_TYPE", report);
}

fn check_known(name: &str, built_in: &[&str], configured: &[String], pointer: &'static str, report: &mut Report) {
    if built_in.contains(&name) || configured.iter().any(|it| it == name) {
        return;
    }
    let known: Vec<&str> = built_in.iter().copied().chain(configured.iter().map(String::as_str)).collect();
    let near = nearest(name, &known);
    let all = known.join("`, `");
    let help = match near {
        Some(near) => format!("did you mean `{near}`? known are `{all}`"),
        None => format!("use one of `{all}`, or have the configuration name this one"),
    };
    // No repair, not even of case: the kind of an agent is what its authority rests on, and only it can say what it is.
    report.add(Pointer::at(pointer), format!("`{}` is no kind of agent that is known here", show(name)), help);
}
