//! What is seen of a run while it goes on: on a terminal a table that is drawn over itself, otherwise a line for each thing
//! that happens.

use super::drawn::{self, Drawn};
use super::noted::{self, name};
use crate::cli::asking::{line, pages};
use crate::cli::interrupt::STOPPING;
use crate::cli::output::{self, Format};
use crate::cli::words::{cut, span};
use crate::client::Client;
use crate::terminal::Terminal;
use countersign_diagnostic::visible;
use countersign_domain::plan::payload::{Budgets, Plan};
use countersign_runner::agent::Stop;
use countersign_runner::evidence::Status;
use countersign_runner::run::{Note, Spent, Watch};
use serde_json::json;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How much of what agents say is shown under the table.
const LINES: usize = 6;

struct State {
    tasks: Vec<Drawn>,
    said: Vec<String>,
    /// How many lines stand on the terminal.
    lines: usize,
    waiting: Vec<String>,
    spent: Spent,
}

/// Who looks on at a run from the command line.
pub struct Live {
    run: String,
    objective: String,
    budgets: Option<Budgets>,
    format: Format,
    drawn: bool,
    stop: Stop,
    state: Mutex<State>,
}

impl Live {
    /// For a run that follows a plan.
    pub fn new(plan: &Plan, run: &str, format: Format, stop: &Stop) -> Self {
        let tasks = plan.tasks.iter().map(|task| Drawn::new(plan, task)).collect();
        Self {
            run: run.to_owned(),
            objective: visible(plan.objective.as_str()).into_owned(),
            budgets: plan.budgets.clone(),
            format,
            drawn: format == Format::Text && Terminal::stdout().edge().is_some(),
            stop: stop.clone(),
            state: Mutex::new(State {
                tasks,
                said: Vec::new(),
                lines: 0,
                waiting: Vec::new(),
                spent: Spent::default(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up where an earlier runner ended: what is done stays done, for as long as it has been.
    pub fn take_up(&self, client: &Client<'_>) {
        let Ok(shown) = pages(client, "task.list", (json!({ "run_id": self.run }), "tasks"), None) else { return };
        let mut state = self.state();
        for task in shown["tasks"].as_array().into_iter().flatten() {
            let is_it = |drawn: &&mut Drawn| task["task_id"].as_str().is_some_and(|id| drawn.is(id));
            if let Some(drawn) = state.tasks.iter_mut().find(is_it) {
                drawn.take_up(task, task["version"].as_u64().and_then(|seq| since(client, seq)));
            }
        }
    }

    /// Whether it is drawn over itself, so that nobody else may write between.
    pub fn is_drawn(&self) -> bool {
        self.drawn
    }

    /// Says what begins. Where another process is at it, nothing does.
    fn begin(&self, note: &Note<'_>) {
        match self.format {
            Format::Json => output::print(&line(&json!({ "note": name(note), "run_id": self.run }))),
            Format::Text => output::print(&format!("run {}  {}\n", self.run, self.objective)),
        }
    }

    /// Takes the table away: what stays is the report.
    pub fn end(&self) {
        let mut state = self.state();
        if self.drawn && state.lines > 0 {
            output::print(&format!("\u{1b}[{}A\r\u{1b}[J", state.lines));
            state.lines = 0;
        }
    }

    fn draw(&self, state: &mut State) {
        let terminal = Terminal::stdout();
        let mut lines = drawn::table(&state.tasks).lines(&terminal);
        let room = terminal.height().saturating_sub(LINES + 3).max(3);
        if lines.len() > room {
            let more = lines.len() - room + 1;
            lines.truncate(room - 1);
            lines.push(format!("… and {more} more"));
        }
        lines.push(drawn::spent(&state.spent, self.budgets.as_ref()));
        if !state.waiting.is_empty() {
            let waiting = state.waiting.join(", ");
            lines.push(terminal.bold(&format!("waits for a person: {waiting}; answer with `countersign inbox`")));
        }
        if self.stop.is_asked() {
            lines.push(terminal.bold(STOPPING));
        }
        let edge = terminal.edge();
        lines.extend(state.said.iter().map(|said| cut(said, edge)));
        let mut out = if state.lines > 0 { format!("\u{1b}[{}A\r\u{1b}[J", state.lines) } else { String::new() };
        for line in &lines {
            out.push_str(line);
            out.push('\n');
        }
        state.lines = lines.len();
        output::print(&out);
    }
}

/// A short time with its fractions.
fn short(time: Duration) -> String {
    if time.as_secs() >= 60 { span(drawn::seconds(time)) } else { format!("{:.1} s", time.as_secs_f64()) }
}

/// What somebody said who validated, and what is open after that. Somebody's word alone shows nothing where evidence is asked
/// for, and who left something to others has not found it wanting.
fn validated(validator: &str, verdict: &str, said: &str, (only, open): (&[String], &[String])) -> String {
    let open = if open.is_empty() { String::new() } else { format!("; still open: {}", open.join(", ")) };
    match (said, verdict) {
        ("PASS", "BLOCKED" | "PARTIAL") if open.is_empty() => {
            format!("{validator} says PASS; where more than a word is asked for, the evidence decides")
        }
        ("PASS", "BLOCKED" | "PARTIAL") => format!("{validator} says PASS{open}"),
        _ if !only.is_empty() => format!("PASS by {validator} for {}{open}", only.join(", ")),
        _ => format!("{verdict} by {validator}"),
    }
}

/// How long ago an event happened.
fn since(client: &Client<'_>, seq: u64) -> Option<Duration> {
    let event = client.engine().ok()?.stored(seq, seq).ok()?.into_iter().next()?;
    let time: jiff::Timestamp = event.value()["time"].as_str()?.parse().ok()?;
    Duration::try_from(jiff::Timestamp::now().duration_since(time)).ok()
}

/// What happened to a task in a few words, and whether it stands there now.
fn words(note: &Note<'_>) -> Option<(String, String, bool)> {
    let of = |task: &str, words: String, stands: bool| Some((task.to_owned(), words, stands));
    match note {
        Note::Begun { task, agent, attempt, lease } => {
            of(task, format!("{agent} works, attempt {attempt}, lease {lease}"), true)
        }
        Note::Awaited { task, peer, what } => of(task, format!("waits for {peer}, a peer, {what}"), true),
        Note::Said { task, line } => of(task, format!("| {line}"), false),
        Note::Ended { task, how, took } => of(task, format!("agent {how} after {}", short(*took)), true),
        Note::Claimed { task, changes: 1 } => of(task, "claims to be done, 1 file changed".to_owned(), true),
        Note::Claimed { task, changes } => of(task, format!("claims to be done, {changes} files changed"), true),
        Note::Seen { task, criterion, kind, status, says } => {
            let status = match status {
                Status::Pass => "pass",
                Status::Fail => "FAIL",
                Status::Blocked => "BLOCKED",
                Status::Skip => "skipped",
            };
            of(task, format!("{criterion} {kind} {status}: {says}"), true)
        }
        Note::Validated { task, validator, verdict, said, only, open } => {
            of(task, validated(validator, verdict, said, (only, open)), true)
        }
        Note::Judged { task, by, verdict } => of(task, format!("judged {verdict} by {by}"), true),
        Note::Queued { task, behind } => of(task, format!("waits to land, after {behind}"), true),
        Note::Landed { task, commit } => of(task, format!("landed as {}", commit.get(..10).unwrap_or(commit)), true),
        Note::Answered { task, instruction, status, entry } => {
            of(task, format!("{instruction} {status}, audit entry {entry}"), true)
        }
        Note::Handing { task, to, was, tokens, most, taken, kept_at } => {
            of(task, handing(to, (*was, *tokens, *most), taken, *kept_at), false)
        }
        Note::Handed { task, to, step } => of(task, format!("handed over to {to}, as handoff {step}"), false),
        Note::Received { task, from, step, hash } => {
            of(task, format!("received handoff {step} from {from}; its hash was verified: {hash}"), true)
        }
        Note::Done { task, assurance } => of(task, format!("done ({assurance})"), true),
        Note::Again { task, reason } => of(task, format!("tried again: {reason}"), true),
        Note::Stopped { task, reason } => of(task, format!("waits for a person: {reason}"), true),
        Note::Flag { task, text } => of(task, format!("note: {text}"), false),
        Note::Recovered { task, what } => of(task, format!("left by an earlier runner: {what}"), false),
        Note::Led | Note::Told { .. } | Note::Swept { .. } | Note::Waiting { .. } | Note::Tick { .. } => None,
    }
}

/// What was made for another task, from how many tokens to how many of those it may have.
pub fn handing(
    to: &str,
    (was, tokens, most): (usize, usize, usize),
    taken: &[String],
    kept_at: Option<&str>,
) -> String {
    let Some(kept_at) = kept_at else { return format!("handoff to {to} made, {tokens} of {most} tokens") };
    let parts: Vec<&str> = taken.iter().map(|pointer| pointer.trim_start_matches("/handoff/")).collect();
    let parts = parts.join(", ");
    format!("handoff to {to} made, {tokens} of {most} tokens; it had {was}, and {kept_at} keeps the whole of {parts}")
}

impl Watch for Live {
    fn note(&self, note: &Note<'_>) {
        let mut state = self.state();
        if let Note::Led = note {
            return self.begin(note);
        }
        if let Note::Told { text } = note {
            // Nothing is drawn yet that it could be written into.
            match self.format {
                Format::Json => output::print(&line(&json!({ "note": name(note), "text": text }))),
                Format::Text => output::print(&format!("note: {text}\n")),
            }
            return;
        }
        if let Note::Swept { what } = note {
            match self.format {
                Format::Json => output::print(&line(&json!({ "note": name(note), "text": what }))),
                Format::Text if !self.drawn => output::print(&format!("{what}\n")),
                Format::Text => state.said.push((*what).to_owned()),
            }
            return;
        }
        if let Note::Tick { spent } = note {
            state.spent = **spent;
        }
        if let Note::Waiting { tasks } = note {
            if state.waiting != *tasks {
                state.waiting = tasks.to_vec();
                match self.format {
                    _ if self.drawn || tasks.is_empty() => {}
                    Format::Json => output::print(&line(&json!({ "note": name(note), "tasks": tasks }))),
                    Format::Text => {
                        output::print(&format!("waits for a person: {}; see `countersign inbox`\n", tasks.join(", ")));
                    }
                }
            }
            return;
        }
        if let Some((task, words, stands)) = words(note) {
            let words = visible(&words).into_owned();
            match (self.format, self.drawn) {
                (Format::Json, _) => {
                    output::print(&line(&noted::of_task(note, &task, &words)));
                }
                (Format::Text, false) => output::print(&format!("{task}: {words}\n")),
                (Format::Text, true) => {
                    state.said.push(format!("{task}: {words}"));
                    let more = state.said.len().saturating_sub(LINES);
                    state.said.drain(..more);
                }
            }
            state.waiting.retain(|it| *it != task);
            if let Some(drawn) = state.tasks.iter_mut().find(|it| it.is(&task)) {
                drawn.follow(note);
                if stands {
                    drawn.stands(words);
                }
            }
        }
        if self.drawn {
            self.draw(&mut state);
        }
    }
}
