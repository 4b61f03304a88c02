//! Handing over: what came of a task becomes a handoff within its budget, and is sent.

use super::{ask_person, edges, noted, sent, session, trace, words};
use crate::files;
use crate::handoff::{Making, Summarizer, Undrafted, Written, kept};
use crate::run::no::No;
use crate::run::{Note, Run};
use countersign_contract::fix::{ATTEMPTS_MAX, Fixed};
use countersign_contract::{Checker, Settings};
use countersign_domain::plan::payload::{HandoffEdge, PlannedTask};
use countersign_domain::work::task_state::TaskStatus;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Sends what a task hands over, if it is done.
pub(in crate::run) fn give(run: &Run<'_>, task: &PlannedTask) {
    let own = edges(run, |edge| edge.from == task.id);
    let is_done =
        || run.desk.row(task.id.as_str()).is_ok_and(|row| row.is_some_and(|it| it.status == TaskStatus::Done));
    let taken = edges(run, |edge| edge.to == task.id);
    if !taken.is_empty() && is_done() {
        taken.into_iter().for_each(|(_, edge)| noted(run, edge, task.agent.as_str(), Ok(())));
    }
    if own.is_empty() || run.stop.is_asked() || !is_done() {
        return;
    }
    for (number, edge) in own {
        let _turn = run.handing.turn(number);
        match sent(run, edge) {
            Ok(Some(_)) => {}
            Ok(None) => {
                if let Err(no) = make_and_send(run, edge) {
                    ask_person(run, edge, &no);
                }
            }
            Err(no) => run.note(&Note::Flag { task: edge.to.as_str(), text: &no.reason }),
        }
    }
}

/// Makes a handoff from what the ledger has of its source, and sends it.
pub(super) fn make_and_send(run: &Run<'_>, edge: &HandoffEdge) -> Result<(), No> {
    let world = run.setup.world;
    let mut settings = world.checker().settings.clone();
    let most = edge.max_tokens.and_then(|tokens| usize::try_from(tokens.get()).ok()).unwrap_or(usize::MAX);
    settings.tokens_max = settings.tokens_max.min(most);
    let (document, path) = make(run, edge, &settings)?;
    let value: Value = serde_json::from_str(&document).unwrap_or_default();
    let request = json!({
        "trace_id": trace(run, edge), "file": path.display().to_string(), "handoff": document,
        "taken": kept::taken(&value, &path, Some(run.setup.root)),
        "kept": kept::sums(&value, &path, Some(run.setup.root)), "run_id": run.setup.run,
    });
    let answer =
        send(run, &settings, &request).map_err(|no| No { reason: format!("may not be sent: {}", no.reason), ..no })?;
    note_in_file(run, edge, &path, &answer);
    let step = answer["step"].as_u64().unwrap_or(0);
    run.note(&Note::Handed { task: edge.from.as_str(), to: edge.to.as_str(), step });
    Ok(())
}

/// Sends it. Where somebody else sent another one of its trace at the same time, it is looked at again whether this one may
/// go.
fn send(run: &Run<'_>, settings: &Settings, request: &Value) -> Result<Value, No> {
    const TRIES_MAX: usize = 4;
    let _turn = run.handing.sending();
    let mut tries = 1;
    loop {
        match run.desk.ask_within(settings, "handoff.send", request) {
            Err(no) if no.code.as_deref() == Some("CONCURRENCY_CONFLICT") && tries < TRIES_MAX => tries += 1,
            answer => return answer,
        }
    }
}

/// Makes a handoff: the document, and where it lies.
fn make(run: &Run<'_>, edge: &HandoffEdge, settings: &Settings) -> Result<(String, PathBuf), No> {
    let world = run.setup.world;
    let checker = Checker { settings, ..world.checker() };
    let outside = world.outside();
    let summarizer = edge.summarizer.as_ref().map(|words| summarizer(run, edge, words.iter().map(|it| it.as_str())));
    let task = edge.from.as_str();
    let making = Making {
        root: Some(run.setup.root),
        checker: &checker,
        outside: &outside,
        summarizer: summarizer.as_ref(),
        repairer: None,
        chain: Some(&|question: &Value| {
            let mut question = question.clone();
            question["run_id"] = json!(run.setup.run);
            run.desk.look_plainly("handoff.chain", &question)
        }),
        warn: &|text: &str| run.note(&Note::Flag { task, text }),
    };
    let words = words::of(run, edge, outside.now.unwrap_or_else(jiff::Timestamp::now)).map_err(No::from)?;
    let draft = making.draft(&words).map_err(|why| match why {
        Undrafted::Barred { code, why } => No::filed(code, format!("may not be made: {why}")),
        Undrafted::Unasked(failure) => No::from(failure),
        Undrafted::Unusable(why) => No::from(why),
    })?;
    let place = making.place(&draft, None, true);
    let was = making.tokens(&draft);
    let made = match making.write(&draft, &place) {
        Ok(Written::Made(made)) => made,
        Ok(Written::Undecided(fixed)) => return Err(undecided(run, edge, &fixed)),
        // Nobody is to be asked about it: it is made when the run goes on.
        Err(_) if run.stop.is_asked() => return Err(No::from("the run was stopped while it was made".to_owned())),
        Err(error) => return Err(No::filed("DEPENDENCY_NOT_MET", format!("{error:#}"))),
    };
    let value: Value = serde_json::from_str(&made.fixed.text).unwrap_or_default();
    let tokens = making.tokens(&value);
    let kept_at = made.fixed.kept_at.as_deref();
    let (to, taken) = (edge.to.as_str(), made.fixed.kept.keys().cloned().collect::<Vec<_>>());
    run.note(&Note::Handing { task, to, was, tokens, most: settings.tokens_max, taken: &taken, kept_at });
    Ok((made.fixed.text, made.path.unwrap_or_default()))
}

/// The program of the plan: it sees what everybody sees, and is found again by its mark when the runner is gone.
fn summarizer<'w>(run: &Run<'_>, edge: &HandoffEdge, words: impl Iterator<Item = &'w str>) -> Summarizer {
    let mut variables = crate::agent::common();
    let mark = crate::run::recover::attempt_name(run.setup.run, edge.from.as_str(), 0);
    variables.insert(crate::agent::ATTEMPT.into(), mark.into());
    let words = words.map(str::to_owned).collect();
    Summarizer::cleaned(words, run.setup.root.to_owned(), variables.into_iter().collect()).stopped_by(&run.stop)
}

/// Why no handoff can be made of it. The whole report is written where handoffs lie.
fn undecided(run: &Run<'_>, edge: &HandoffEdge, fixed: &Fixed) -> No {
    let decision = &fixed.checked.decision;
    let findings: Vec<Value> = decision
        .details
        .diagnostics
        .iter()
        .map(|it| json!({ "rule": it.rule, "severity": it.severity.as_str(), "pointer": it.pointer.as_str(), "message": it.message, "help": it.help }))
        .collect();
    let report = json!({
        "from": edge.from, "to": edge.to, "trace_id": trace(run, edge), "code": decision.code_str(), "reason": decision.reason,
        "attempts": fixed.attempts, "changes": fixed.changes, "findings": findings,
    });
    let folder = session(run).join("handoffs");
    let path = folder.join(format!("{}-to-{}-report.json", edge.from, edge.to));
    let shown = path.strip_prefix(run.setup.root).unwrap_or(&path).display().to_string();
    let text = format!("{report:#}\n");
    let text = countersign_contract::scan::redact(&text).unwrap_or(text);
    let written =
        std::fs::create_dir_all(&folder).map_err(anyhow::Error::from).and_then(|()| files::write(&path, &text));
    let whole = match written {
        Ok(()) => format!("the whole report: {shown}"),
        Err(error) => format!("the report could not be written: {error:#}"),
    };
    let tries = format!("cannot be made within its budget after {} of {ATTEMPTS_MAX} attempts", fixed.attempts);
    let cure = format!("send one that fits, as a person, with `countersign handoff send FILE --run {}`", run.setup.run);
    let reason = format!("{tries}: {}; {whole}; {cure}, then unblock", decision.reason);
    No::filed(decision.code_str(), reason)
}

/// Puts the document as it was sent in the place of the file. The ledger has it; a file that cannot be written only lacks the
/// note.
fn note_in_file(run: &Run<'_>, edge: &HandoffEdge, path: &std::path::Path, answer: &Value) {
    let question = json!({ "trace_id": answer["trace_id"], "step": answer["step"] });
    let shown = run.desk.look("handoff.show", &question).unwrap_or_default();
    let Some(document) = shown["document"].as_str() else { return };
    if let Err(error) = files::write(path, document) {
        let text = format!("going on without the note in the file that it was sent: {error:#}");
        run.note(&Note::Flag { task: edge.from.as_str(), text: &text });
    }
}
