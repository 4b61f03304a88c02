//! Everything that can be asked: one row for each command and each view. Doors are made from these tables, and there is
//! no other way in.

use crate::begun::Begun;
use crate::call::{Call, Failure, Reply};
use crate::meant::Meant;
use crate::road::{Outcome, Prepared};
use crate::world::World;
use crate::{Engine, disclose, refusals};
use countersign_contract::diagnostic::{Decision, Source};
use countersign_contract::{Schemas, Shape, check};
use countersign_domain::deciding::{Command, CommandInfo, Refusal, View, ViewInfo};
use countersign_domain::delegation;
use countersign_domain::handoff;
use countersign_domain::plan;
use countersign_domain::project::{Erase, Init, Keep};
use countersign_domain::validation;
use countersign_domain::validation::command as gates;
use countersign_domain::work::{command as work, view};
use countersign_ledger::{self as ledger, Transaction};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

type Ask = fn(&Engine, &dyn World, &Call, &str) -> Prepared<Value>;
type Show = fn(&Engine, &dyn World, &Call, &str) -> Result<Value, Failure>;
type Schema = fn(&mut Schemas) -> Value;

/// A command, as doors know it.
#[derive(Clone, Copy)]
pub struct CommandRow {
    /// What is known of it.
    pub info: CommandInfo,
    /// The JSON Schema of the request.
    pub request: Schema,
    /// The JSON Schema of the answer.
    pub answer: Schema,
    /// The smallest request.
    pub example: fn() -> Value,
    ask: Ask,
}

/// A view, as doors know it.
#[derive(Clone, Copy)]
pub struct ViewRow {
    /// What is known of it.
    pub info: ViewInfo,
    /// The JSON Schema of the question.
    pub question: Schema,
    /// The JSON Schema of what is shown.
    pub shown: Schema,
    /// The smallest question.
    pub example: fn() -> Value,
    show: Show,
}

impl CommandRow {
    const fn of<C: Command>() -> Self {
        Self { info: C::INFO, request: C::schema, answer: C::Answer::schema, example: C::example, ask: ask::<C> }
    }
}

impl ViewRow {
    const fn of<V: View>() -> Self {
        Self { info: V::INFO, question: V::schema, shown: V::Shown::schema, example: V::example, show: show::<V> }
    }
}

/// Every command.
pub const COMMANDS: &[CommandRow] = &[
    CommandRow::of::<Init>(),
    CommandRow::of::<Keep>(),
    CommandRow::of::<Erase>(),
    CommandRow::of::<work::OpenRun>(),
    CommandRow::of::<work::CloseRun>(),
    CommandRow::of::<work::CancelRun>(),
    CommandRow::of::<work::AddTasks>(),
    CommandRow::of::<work::Apply>(),
    CommandRow::of::<work::Claim>(),
    CommandRow::of::<work::Heartbeat>(),
    CommandRow::of::<work::Extend>(),
    CommandRow::of::<work::Release>(),
    CommandRow::of::<work::Submit>(),
    CommandRow::of::<work::Block>(),
    CommandRow::of::<work::Unblock>(),
    CommandRow::of::<work::Replan>(),
    CommandRow::of::<work::Fail>(),
    CommandRow::of::<work::Cancel>(),
    CommandRow::of::<work::Reassign>(),
    CommandRow::of::<work::AddWorklog>(),
    CommandRow::of::<work::Resume>(),
    CommandRow::of::<work::LeadRun>(),
    CommandRow::of::<work::AcceptContent>(),
    CommandRow::of::<work::FailAttempt>(),
    CommandRow::of::<work::HoldAttempt>(),
    CommandRow::of::<work::ReturnAttempt>(),
    CommandRow::of::<work::StartEffect>(),
    CommandRow::of::<work::FinishEffect>(),
    CommandRow::of::<delegation::command::Receive>(),
    CommandRow::of::<delegation::command::Start>(),
    CommandRow::of::<delegation::command::Answer>(),
    CommandRow::of::<delegation::command::Observe>(),
    CommandRow::of::<delegation::command::Ask>(),
    CommandRow::of::<delegation::command::Approve>(),
    CommandRow::of::<delegation::command::Refuse>(),
    CommandRow::of::<delegation::command::Conclude>(),
    CommandRow::of::<delegation::command::Resolve>(),
    CommandRow::of::<gates::MakePromise>(),
    CommandRow::of::<gates::StartPromise>(),
    CommandRow::of::<gates::Meet>(),
    CommandRow::of::<gates::ReleasePromise>(),
    CommandRow::of::<gates::Adopt>(),
    CommandRow::of::<gates::CancelPromise>(),
    CommandRow::of::<gates::Validate>(),
    CommandRow::of::<gates::Judged>(),
    CommandRow::of::<gates::Accept>(),
    CommandRow::of::<gates::Testify>(),
    CommandRow::of::<gates::Rule>(),
    CommandRow::of::<gates::HoldBack>(),
    CommandRow::of::<gates::Recheck>(),
    CommandRow::of::<gates::Land>(),
    CommandRow::of::<plan::command::StartRun>(),
    CommandRow::of::<handoff::command::SendHandoff>(),
    CommandRow::of::<handoff::command::ReceiveHandoff>(),
    CommandRow::of::<handoff::command::NoteHandoff>(),
];

/// Every view.
pub const VIEWS: &[ViewRow] = &[
    ViewRow::of::<view::ListRuns>(),
    ViewRow::of::<view::ShowRun>(),
    ViewRow::of::<view::ListTasks>(),
    ViewRow::of::<view::ShowTask>(),
    ViewRow::of::<view::NextTask>(),
    ViewRow::of::<view::ShowAssignment>(),
    ViewRow::of::<view::Graph>(),
    ViewRow::of::<view::WhoHolds>(),
    ViewRow::of::<view::MayChange>(),
    ViewRow::of::<view::MyLocks>(),
    ViewRow::of::<view::ListLocks>(),
    ViewRow::of::<view::ListStrays>(),
    ViewRow::of::<view::ShowWorklog>(),
    ViewRow::of::<view::MakeBundle>(),
    ViewRow::of::<view::Reconcile>(),
    ViewRow::of::<view::ListEffects>(),
    ViewRow::of::<delegation::view::ShowDelegation>(),
    ViewRow::of::<delegation::view::ShowNext>(),
    ViewRow::of::<delegation::view::ShowEnd>(),
    ViewRow::of::<delegation::view::ListAlerts>(),
    ViewRow::of::<delegation::view::ListEntries>(),
    ViewRow::of::<delegation::view::ShowAction>(),
    ViewRow::of::<validation::view::GateStatus>(),
    ViewRow::of::<validation::view::WaitingGates>(),
    ViewRow::of::<validation::view::ShowPromise>(),
    ViewRow::of::<validation::view::ListPromises>(),
    ViewRow::of::<validation::view::Inbox>(),
    ViewRow::of::<plan::view::ShowPlan>(),
    ViewRow::of::<handoff::view::ShowChain>(),
    ViewRow::of::<handoff::view::ShowHandoff>(),
];

/// The command with this name.
pub fn command_row(id: &str) -> Option<&'static CommandRow> {
    COMMANDS.iter().find(|row| row.info.id == id)
}

/// The view with this name.
pub fn view_row(id: &str) -> Option<&'static ViewRow> {
    VIEWS.iter().find(|row| row.info.id == id)
}

impl Engine {
    /// Carries out the command with this name. The request is JSON.
    pub fn ask(&self, world: &dyn World, call: &Call, id: &str, request: &str) -> Result<Reply, Failure> {
        self.carry_out(self.read(world, call, id, request)?)
    }

    /// The same for those who have no thread to wait with: it is taken up here, and done whether or not they wait.
    pub fn begin(&self, world: &dyn World, call: &Call, id: &str, request: &str) -> Result<Begun, Failure> {
        Ok(Begun::of(self, self.read(world, call, id, request)?)?)
    }

    /// The way of a request up to the transaction, and what its caller may see of what comes of it.
    fn read(&self, world: &dyn World, call: &Call, id: &str, request: &str) -> Result<Prepared<Value>, Failure> {
        let row = command_row(id).ok_or_else(|| unknown(id, COMMANDS.iter().map(|row| row.info.id)))?;
        let (Prepared { looks_at, work, finish }, call) = ((row.ask)(self, world, call, request), call.clone());
        let finish = move |engine: &Engine, outcome: Outcome| {
            let done = finish(engine, outcome);
            done.map(|reply| disclose::reply(&call, reply)).map_err(|failure| disclose::failure(&call, failure))
        };
        Ok(Prepared { looks_at, work, finish: Box::new(finish) })
    }

    /// Shows the view with this name. The question is JSON.
    pub fn look(&self, world: &dyn World, call: &Call, id: &str, question: &str) -> Result<Value, Failure> {
        let row = view_row(id).ok_or_else(|| unknown(id, VIEWS.iter().map(|row| row.info.id)))?;
        let question = disclose::question(call, id, row.question, question)?;
        let shown = (row.show)(self, world, call, &question).map_err(|failure| disclose::failure(call, failure))?;
        Ok(disclose::shown(call, id, shown)?)
    }
}

fn unknown(id: &str, known: impl Iterator<Item = &'static str>) -> Failure {
    let known: Vec<&str> = known.collect();
    Failure::Unknown(format!("there is no `{}`; known are {}", countersign_contract::show(id), known.join(", ")))
}

fn ask<C: Command>(engine: &Engine, world: &dyn World, call: &Call, request: &str) -> Prepared<Value> {
    let request = &in_bound_run(call, request);
    let command: C = match read(world, C::INFO.id, request) {
        Ok(command) => command,
        Err(decision) => {
            return malformed(engine.command_of(call, C::INFO.id, None), decision, meant(call, &C::INFO, request));
        }
    };
    let Prepared { looks_at, work, finish } = engine.prepare(world, call, Arc::new(command));
    let finish = move |engine: &Engine, outcome: Outcome| {
        let Reply { answer, events, repeated, findings } = finish(engine, outcome)?;
        Ok(Reply { answer: serde_json::to_value(&answer).unwrap_or_default(), events, repeated, findings })
    };
    Prepared { looks_at, work, finish: Box::new(finish) }
}

/// A request that is not of its shape is recorded as refused, and no more.
fn malformed(asked: ledger::Command, decision: Box<Decision>, meant: Meant) -> Prepared<Value> {
    let refusal = decision.code.map(|code| {
        let help = "mend the request; the findings say where";
        let findings = decision.details.diagnostics.clone();
        Refusal { findings, ..Refusal::new(code, decision.reason.clone(), help) }
    });
    let work = move |transaction: &mut Transaction<'_>| {
        if let Some(refusal) = refusal {
            refusals::record(transaction, &asked, &refusal, &meant)?;
        }
        Ok(Outcome::Nothing)
    };
    let finish = move |_: &Engine, _: Outcome| Err(Failure::Malformed(decision));
    Prepared { looks_at: Vec::new(), work: Box::new(work), finish: Box::new(finish) }
}

/// What a request is about that is not of its shape: nothing, if whoever sends it may not ask for that there.
fn meant(call: &Call, info: &CommandInfo, request: &str) -> Meant {
    let meant = Meant::of(info.id, &serde_json::from_str(request).unwrap_or_default());
    let elsewhere = call.bound.as_ref().is_some_and(|bound| !meant.is_of(&bound.run));
    if elsewhere || call.may(info.id, info.may).is_err() { Meant::default() } else { meant }
}

/// The request of somebody who is bound to a task means its run where it names none.
fn in_bound_run<'r>(call: &Call, request: &'r str) -> Cow<'r, str> {
    let Some(bound) = &call.bound else { return Cow::Borrowed(request) };
    let value: Value = serde_json::from_str(request).unwrap_or_default();
    let of_task = value.get("task_id").is_some() || value.get("result").is_some();
    match request.trim_end().strip_suffix('}') {
        // At the end, and as it was written otherwise: what is wrong with it keeps its place.
        Some(rest) if of_task && value.get("run_id").is_none() => {
            Cow::Owned(format!("{rest},\"run_id\":{}}}", Value::from(bound.run.as_str())))
        }
        _ => Cow::Borrowed(request),
    }
}

fn show<V: View>(engine: &Engine, world: &dyn World, call: &Call, question: &str) -> Result<Value, Failure> {
    let view: V = read(world, V::INFO.id, question).map_err(Failure::Malformed)?;
    Ok(serde_json::to_value(engine.show(world, call, &view)?).unwrap_or_default())
}

fn read<T: Shape>(world: &dyn World, name: &str, text: &str) -> Result<T, Box<Decision>> {
    check::read(&world.checker(), Source { name, text })
}
