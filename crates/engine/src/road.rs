//! The road of a command, and of a question.

use crate::call::{Call, Failure, Reply};
use crate::look::Watching;
use crate::meant::Meant;
use crate::stored::Stored;
use crate::world::World;
use crate::{Engine, OK, chance, due, look, meaning, refusals, written};
use countersign_contract::diagnostic::{Code, Diagnostic};
use countersign_contract::{Form, Shape, canonical, parse};
use countersign_domain::deciding::{
    Answered, Command, Decided, Desk, Happened, Happening, LeaseStep, Moment, Need, Observed, Refusal, Seen, View,
};
use countersign_domain::work::event::RUN_OPENED;
use countersign_domain::work::row::run_key;
use countersign_ledger as ledger;
use ledger::{Hash, Held, LeaseChange, Name, Once, RowKey, Transaction};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// What happened inside of the transaction.
pub(crate) enum Outcome {
    /// These events were committed as they are.
    Recorded(Vec<Stored>),
    /// An earlier call with the same key recorded these events.
    Repeated(u64, u64),
    Alive(i64),
    Nothing,
    Refused(Box<Refusal>),
    /// An earlier call with the same key asked for something else.
    KeyReused(ledger::Refused),
}

pub(crate) type Work = Box<dyn FnOnce(&mut Transaction<'_>) -> ledger::Result<Outcome> + Send>;
pub(crate) type Finish<A> = Box<dyn FnOnce(&Engine, Outcome) -> Result<Reply<A>, Failure> + Send>;

/// A command that was read and observed: what is left is the transaction, and to say what came of it.
pub(crate) struct Prepared<A> {
    /// What it will look at first.
    pub(crate) looks_at: Vec<RowKey>,
    pub(crate) work: Work,
    pub(crate) finish: Finish<A>,
}

impl Engine {
    /// Carries a command out, once and durably, or says why not.
    pub fn submit<C: Command>(&self, world: &dyn World, call: &Call, command: &C) -> Result<Reply<C::Answer>, Failure> {
        self.carry_out(self.prepare(world, call, Arc::new(command.clone())))
    }

    /// Has what was prepared done, and waits for it.
    pub(crate) fn carry_out<A>(&self, prepared: Prepared<A>) -> Result<Reply<A>, Failure> {
        let outcome = self.ledger.write_looking_at(prepared.looks_at, prepared.work);
        self.finish(prepared.finish, outcome)
    }

    /// Says what came of what was prepared.
    pub(crate) fn finish<A>(&self, finish: Finish<A>, came: ledger::Result<Outcome>) -> Result<Reply<A>, Failure> {
        // What was found to be due is not recorded then, and is due all the same.
        let outcome = came.inspect_err(|_| self.quiet.store(0, Ordering::Relaxed))?;
        finish(self, outcome)
    }

    /// The way of a command up to the transaction. Nothing is written here.
    pub(crate) fn prepare<C: Command>(&self, world: &dyn World, call: &Call, command: Arc<C>) -> Prepared<C::Answer> {
        let observed = call
            .authorise(&C::INFO, || command.about())
            .and_then(|()| command.observe(&Watching { engine: self, world, call }));
        let asked = self.asked(call, &*command);
        let (looks_at, kept) = (looks_at(&asked, &*command), Arc::clone(&command));
        match observed {
            Ok(observed) => {
                let findings = observed.findings.clone();
                let (quiet, person) = (Arc::clone(&self.quiet), call.is_person());
                let work = move |transaction: &mut Transaction<'_>| {
                    carry_out(transaction, asked, person, &*command, &observed, &quiet)
                };
                let finish = move |engine: &Engine, outcome: Outcome| engine.told(&*kept, outcome, findings);
                Prepared { looks_at, work: Box::new(work), finish: Box::new(finish) }
            }
            Err(refusal) => {
                let meant = meant(&*command);
                // A repetition is answered as before, whatever has become of the world since.
                let work = move |transaction: &mut Transaction<'_>| match known(transaction, &asked, || meant.clone())?
                {
                    Some(outcome) => Ok(outcome),
                    None => {
                        refusals::record(transaction, &asked, &refusal, &meant)?;
                        Ok(Outcome::Refused(Box::new(refusal)))
                    }
                };
                let finish = move |engine: &Engine, outcome: Outcome| engine.told(&*kept, outcome, Vec::new());
                Prepared { looks_at, work: Box::new(work), finish: Box::new(finish) }
            }
        }
    }

    /// What is said of what came of a command.
    fn told<C: Command>(
        &self,
        command: &C,
        outcome: Outcome,
        findings: Vec<Diagnostic>,
    ) -> Result<Reply<C::Answer>, Failure> {
        let without_events = |deadline: Option<i64>, findings: Vec<Diagnostic>| {
            let answer = command.answer(&Answered { events: &[], deadline });
            Ok(Reply { answer, events: Vec::new(), repeated: false, findings })
        };
        match outcome {
            Outcome::Recorded(events) => Ok(reply(command, events, false, findings)),
            Outcome::Repeated(first, last) => Ok(reply(command, self.stored(first, last)?, true, findings)),
            Outcome::Alive(deadline) => without_events(Some(deadline), findings),
            Outcome::Nothing => without_events(None, findings),
            Outcome::Refused(refusal) => Err(Failure::Refused(refusal)),
            Outcome::KeyReused(refused) => Err(Failure::Ledger(refused.into())),
        }
    }

    /// Answers a question.
    pub fn show<V: View>(&self, world: &dyn World, call: &Call, view: &V) -> Result<V::Shown, Failure> {
        let now = world.outside().now.unwrap_or_else(jiff::Timestamp::now);
        let moment = Moment {
            now: now.to_string(),
            now_ms: now.as_millisecond(),
            actor: call.actor.clone(),
            authn: call.authn.clone(),
            person: call.is_person(),
            bound: call.bound.as_ref().map(|bound| bound.task.clone()),
            project: self.ledger.project().to_owned(),
            new_id: String::new(),
            head: 0,
        };
        let tree = view.tree(&Watching { engine: self, world, call }, &moment);
        let seen = look::beside(self, &|seen| view.needs(seen, &moment))?;
        Ok(view.render(&seen, &moment, tree.as_ref())?)
    }

    fn asked<C: Command>(&self, call: &Call, command: &C) -> ledger::Command {
        let once = call.key.clone().map(|key| Once { key, request: request_hash(command), code: OK.to_owned() });
        self.command_of(call, C::INFO.id, once)
    }

    pub(crate) fn command_of(&self, call: &Call, name: &str, once: Option<Once>) -> ledger::Command {
        let (actor, authn) = (call.actor.clone(), call.authn.clone());
        ledger::Command { actor, authn, name: name.to_owned(), once, under: None }
    }
}

/// The answer, which follows from the events as they are stored and from nothing else.
fn reply<C: Command>(command: &C, events: Vec<Stored>, repeated: bool, findings: Vec<Diagnostic>) -> Reply<C::Answer> {
    let happened: Vec<Happened<'_>> = events.iter().map(Stored::happened).collect();
    let answer = command.answer(&Answered { events: &happened, deadline: None });
    Reply { answer, events, repeated, findings }
}

/// What a command is about.
fn meant<C: Command>(command: &C) -> Meant {
    match command.about() {
        Some(about) => Meant::about(C::INFO.id, about),
        None => Meant::of(C::INFO.id, &serde_json::to_value(command).unwrap_or_default()),
    }
}

/// The hash of a request, however it was written.
fn request_hash<C: Shape>(command: &C) -> Hash {
    let text = serde_json::to_string(command).unwrap_or_default();
    let canonical = match parse(&text, Form::Json, usize::MAX) {
        Ok(document) => document.root().canonical(),
        // It was read, so that it can be; this only says the same in another way.
        Err(_) => canonical(&serde_json::from_str(&text).unwrap_or_default()),
    };
    Hash::of(canonical.as_bytes())
}

/// What follows from an earlier call with the same key: its events once more, or, if it asked for something else, a refusal,
/// which is recorded like every other one.
fn known(
    transaction: &mut Transaction<'_>,
    asked: &ledger::Command,
    meant: impl FnOnce() -> Meant,
) -> ledger::Result<Option<Outcome>> {
    match transaction.remembered(asked) {
        Ok(done) => Ok(done.map(|done| Outcome::Repeated(done.first, done.last))),
        Err(ledger::Error::Refused(refused)) => {
            let help = "use a new key for a new request";
            let refusal = Refusal::new(Code::ConcurrencyConflict, refused.to_string(), help);
            refusals::record(transaction, asked, &refusal, &meant())?;
            Ok(Some(Outcome::KeyReused(refused)))
        }
        Err(error) => Err(error),
    }
}

fn carry_out<C: Command>(
    transaction: &mut Transaction<'_>,
    asked: ledger::Command,
    person: bool,
    command: &C,
    observed: &Observed,
    quiet: &AtomicI64,
) -> ledger::Result<Outcome> {
    if let Some(outcome) = known(transaction, &asked, || meant(command))? {
        return Ok(outcome);
    }
    due::before_a_command(transaction, quiet)?;
    let moment = Moment { person, ..moment(transaction, &asked.actor, &asked.authn) };
    let seen = look::inside(transaction, &|seen| command.needs(seen, &moment))?;
    let mut desk = Desk::new(seen, moment);
    match command.decide(&mut desk, observed) {
        Err(refusal) => {
            // What was true before it was refused, such as a lease that had lapsed, is true all the same.
            let happenings = desk.refused();
            append(transaction, &ledger::Command { once: None, ..asked.clone() }, happenings)?;
            refusals::record(transaction, &asked, &refusal, &meant(command))?;
            Ok(Outcome::Refused(Box::new(refusal)))
        }
        Ok(()) => {
            let Decided { happenings, under, alive } = desk.decided();
            let under = under.map(|(name, number)| Held { name, number });
            let events = append(transaction, &ledger::Command { under, ..asked }, happenings)?;
            match alive {
                _ if !events.is_empty() => Ok(Outcome::Recorded(events)),
                Some((name, number)) => Ok(Outcome::Alive(transaction.renew(&Held { name, number })?.0)),
                None => Ok(Outcome::Nothing),
            }
        }
    }
}

/// Records what has happened, and gives it as it is stored.
fn append(
    transaction: &mut Transaction<'_>,
    asked: &ledger::Command,
    happenings: Vec<Happening>,
) -> ledger::Result<Vec<Stored>> {
    if happenings.is_empty() {
        return Ok(Vec::new());
    }
    let drafts = drafts(transaction, happenings)?;
    let (time, written) = (transaction.now().to_string(), transaction.append_telling(asked, drafts)?);
    written.into_iter().map(|written| Stored::written(written, &asked.actor, &time)).collect()
}

/// When and by whom something is decided in a transaction. Nobody is a person unless a door says so.
pub(crate) fn moment(transaction: &Transaction<'_>, actor: &str, authn: &str) -> Moment {
    let now = transaction.now();
    Moment {
        now: now.to_string(),
        now_ms: now.0,
        actor: actor.to_owned(),
        authn: authn.to_owned(),
        person: false,
        bound: None,
        project: transaction.project().to_owned(),
        new_id: chance::id(),
        head: transaction.head().seq,
    }
}

/// What a command will look at first: its idempotency key, and what it asks for before it has seen anything.
fn looks_at<C: Command>(asked: &ledger::Command, command: &C) -> Vec<RowKey> {
    let once = asked.once.as_ref().map(|once| [asked.actor.clone(), asked.name.clone(), once.key.clone()]);
    let moment = Moment {
        now: String::new(),
        now_ms: 0,
        actor: asked.actor.clone(),
        authn: asked.authn.clone(),
        person: false,
        bound: None,
        project: String::new(),
        new_id: String::new(),
        head: 0,
    };
    let rows = |need: Need| match need {
        Need::Entity(key) => vec![RowKey::Entity(meaning::ledger_key(&key))],
        // How fresh a lease is is asked for whenever the lease is.
        Need::Lease(name) => [RowKey::Lease, RowKey::Liveness].map(|row| row(Name::from(&name))).to_vec(),
        Need::Range(_) | Need::Texts(_) => Vec::new(),
    };
    let needs = command.needs(&Seen::default(), &moment).into_iter().flat_map(rows);
    once.map(|key| RowKey::Remembered(key.map(Name::from))).into_iter().chain(needs).collect()
}

/// The matter of everything that belongs to no run with a matter of its own.
const MATTER: &str = "main";

/// What has happened as the ledger takes it. All of a run is of the matter that the run was opened with.
pub(crate) fn drafts(
    transaction: &mut Transaction<'_>,
    happenings: impl IntoIterator<Item = Happening>,
) -> ledger::Result<Vec<ledger::Draft>> {
    let mut matters: BTreeMap<String, Name> = BTreeMap::new();
    let mut drafts = Vec::new();
    for happening in happenings {
        let matter: &str = match &happening.run {
            None => MATTER,
            Some(run) => match matters.entry(run.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(matter(transaction, run, &happening)?),
            },
        };
        drafts.push(draft(happening, matter));
    }
    Ok(drafts)
}

/// The matter of a run: what its first event says, and from then on that of the run as it stands.
fn matter(transaction: &mut Transaction<'_>, run: &str, happening: &Happening) -> ledger::Result<Name> {
    if happening.kind == RUN_OPENED {
        return Ok(happening.facts["matter"].as_str().unwrap_or(MATTER).into());
    }
    let found = transaction.get(&[meaning::ledger_key(&run_key(run))])?.into_iter().flatten().next();
    Ok(found.map_or_else(|| MATTER.into(), |run| run.matter))
}

fn draft(happening: Happening, matter: &str) -> ledger::Draft {
    let (facts, read) = written::facts(happening.facts);
    ledger::Draft {
        id: None,
        kind: happening.kind.to_owned(),
        v: happening.v,
        cause: None,
        run: happening.run,
        matter: matter.to_owned(),
        class: happening.class.to_owned(),
        taint: happening.taint.to_owned(),
        facts,
        read,
        texts: happening.texts.into_iter().map(|text| salted(&text)).collect(),
        lease: happening.lease.map(lease),
        erase: happening.erase,
    }
}

fn lease(step: LeaseStep) -> LeaseChange {
    match step {
        LeaseStep::Grant { holder, name, ttl } => LeaseChange::Grant { holder, name, ttl },
        LeaseStep::Extend { name, number, ttl } => LeaseChange::Extend { name, number, ttl },
        LeaseStep::Release { name, number } => LeaseChange::Release(Held { name, number }),
        LeaseStep::Expire { name, number } => LeaseChange::Expire(Held { name, number }),
    }
}

fn salted(text: &countersign_contract::Untrusted<String>) -> ledger::Text {
    ledger::Text { salt: chance::bytes(), body: text.inspect(|text| text.as_bytes().to_vec()) }
}
