//! Actions on GitHub, or on a platform that speaks as it does, over its REST interface.
//!
//! ```text
//! step ─▶ sent ─┬─ done ─────────────────────────────▶ next step
//!               ├─ limited ──▶ waited as the headers say ──▶ sent again
//!               ├─ 5xx ──▶ looked for ──▶ found: next step; not found: sent again if twice is as good as once, else failed
//!               ├─ cut, or a success that cannot be read ──▶ looked for ──▶ found: next step; not found: failed
//!               └─ refused ──▶ failed, or blocked by a rule of the platform
//! ```
//!
//! **Invariant:** what makes something each time is sent once. If it may have been sent, by this attempt or by an earlier one,
//! and is not found, nobody knows whether it was done; the response says so, and a person looks.
//!
//! [`table`] says what is sent for each action and how it is looked for. Waiting is within a patience; where that does not
//! reach, the response says when to try again.

mod feasible;
mod line;
mod mask;
mod opened;
mod pages;
mod progress;
mod reading;
mod refused;
mod seeing;
mod step;
mod table;
mod triggered;
mod waiting;

use super::{Attempt, Executor, Obstacle, Seen, now, said};
use crate::agent;
use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::delegation::payload::DelegationInstruction;
use line::{Broken, Line, Reply};
use pages::{Listed, Page};
use progress::{Exchange, Progress, Taken};
use refused::Refused;
use serde_json::Value;
use std::cell::RefCell;
use std::time::{Duration, Instant};
use step::{Blind, Order, Probe, Step, Take};

/// Where GitHub is asked.
pub const GITHUB: &str = "https://api.github.com";
/// How long is waited in all before the requester is told to come back.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked meanwhile whether it is asked to stop.
const TICK: Duration = Duration::from_millis(100);
/// How long it may act: every request ends in time by itself, and so does all waiting.
const SECONDS: u32 = 1800;
/// How often something is sent at the most.
const TRIES_MAX: u32 = 5;

/// Acts on GitHub.
pub struct GithubExecutor {
    line: Line,
    patience: Duration,
    wait: Box<dyn Fn(Duration)>,
    /// Asks it to wait for nothing any more.
    stop: agent::Stop,
    /// What was seen to forbid an instruction when it was looked whether it can be carried out.
    forbidden: RefCell<Option<(String, Refused, Exchange)>>,
    /// The limit that was met then, the request that met it, and until when nothing should be sent.
    limited: RefCell<Option<(Refused, Exchange, Instant)>>,
}

/// Why a step ended an action.
enum Stop {
    /// The platform said no, or it cannot be told that it said yes.
    Refused(Box<Refused>),
    /// It is not known, and nothing should be said before it is.
    Unknown(String),
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        Self::Refused(Box::new(refused))
    }
}

impl From<Blind> for Stop {
    fn from(blind: Blind) -> Self {
        match blind {
            Blind::Unread(why) => Self::Unknown(why),
            Blind::Unclear(why) => Refused::unclear(why).into(),
        }
    }
}

impl GithubExecutor {
    /// Acts at an address, with a token.
    pub fn new(url: &str, token: &str) -> Result<Self, String> {
        let (line, wait) = (Line::new(url, token, None)?, Box::new(std::thread::sleep));
        Ok(Self::of(line, PATIENCE, wait))
    }

    /// The same with another patience for a single answer and for all waiting, and with another way to wait.
    pub fn waiting(
        url: &str,
        token: &str,
        (answer, all): (Duration, Duration),
        wait: impl Fn(Duration) + 'static,
    ) -> Result<Self, String> {
        let (line, wait) = (Line::new(url, token, Some(answer))?, Box::new(wait));
        Ok(Self::of(line, all, wait))
    }

    fn of(line: Line, patience: Duration, wait: Box<dyn Fn(Duration)>) -> Self {
        let (forbidden, limited, stop) = (RefCell::default(), RefCell::default(), agent::Stop::default());
        Self { line, patience, wait, stop, forbidden, limited }
    }

    /// The same, which waits for nothing any more once it is asked to stop. What was sent is seen to its end.
    pub(crate) fn until(self, stop: &agent::Stop) -> Self {
        let asked = stop.clone();
        let wait = move |pause: Duration| {
            let until = Instant::now() + pause;
            while !asked.is_asked() && Instant::now() < until {
                std::thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
            }
        };
        Self { wait: Box::new(wait), stop: stop.clone(), ..self }
    }

    /// The mark that nobody sees in what is made for an instruction, for whoever looks for it there.
    pub fn mark(instruction: &DelegationInstruction) -> String {
        table::mark(instruction)
    }

    /// Reads a path, and waits as long as that takes.
    fn read(&self, path: &str, progress: &mut Progress) -> Result<Page, String> {
        for tries in 1.. {
            let mut exchange = Exchange::begun("GET", self.line.url(path), None);
            let (why, pause) = match self.line.send("GET", path, None) {
                Ok(reply) if reply.status >= 500 || waiting::is_limited(&reply) => {
                    (reply.says(), waiting::pause(&reply, tries))
                }
                Ok(reply) if reply.is_success() && reply.garbled => {
                    return Err(format!("what the platform answered to GET {path} cannot be read"));
                }
                Ok(reply) => {
                    exchange.status = Some(reply.status);
                    progress.seen = Some(exchange);
                    let next = self.line.next_page(&reply)?;
                    return Ok(Page { status: reply.status, body: reply.body, next });
                }
                Err(Broken::Unsent(why) | Broken::Cut(why)) => (why, waiting::backoff(tries)),
            };
            if tries >= TRIES_MAX || !self.may_wait(pause, progress) {
                return Err(why);
            }
        }
        Err("it was tried too often".to_owned())
    }

    /// Waits, if that is within the patience, and nobody has asked to stop.
    fn may_wait(&self, pause: Duration, progress: &mut Progress) -> bool {
        let waited = progress.waited + pause;
        if waited > self.patience || self.stop.is_asked() {
            return false;
        }
        progress.waited = waited;
        (self.wait)(pause);
        !self.stop.is_asked()
    }

    /// Whether a step was done, and what shows it.
    fn find(&self, step: &Step, progress: &mut Progress) -> Result<Option<Value>, Stop> {
        self.find_by(&step.probe, progress)
    }

    fn find_by(&self, probe: &Probe, progress: &mut Progress) -> Result<Option<Value>, Stop> {
        let number = progress.main["number"].to_string();
        let progress = std::cell::RefCell::new(progress);
        let read = |path: &str| self.read(&path.replace("{number}", &number), &mut progress.borrow_mut());
        Ok(probe(&read)?)
    }

    /// What a step takes from a path.
    fn taken(&self, take: &Take, from: &str, progress: &mut Progress) -> Result<Option<Value>, Stop> {
        if !take.listed {
            let Page { status, body, .. } = self.read(from, progress).map_err(Stop::Unknown)?;
            return Ok(Some(body).filter(|_| status < 300).as_ref().and_then(&take.find));
        }
        let progress = RefCell::new(progress);
        let read = |path: &str| self.read(path, &mut progress.borrow_mut());
        let find = |items: &[Value], _: &Value| items.iter().find_map(&take.find).map(Listed::Found);
        Ok(match pages::through(&read, from, None, find)? {
            Listed::Found(found) => Some(found),
            Listed::Nothing | Listed::Refused => None,
        })
    }

    /// Sends a step until it is known what became of it. `unsure`: an earlier attempt may have done it.
    fn step(
        &self,
        step: &Step,
        (path, body): (&str, Option<&Value>),
        (used, mut unsure): (bool, bool),
        progress: &mut Progress,
    ) -> Result<Taken, Stop> {
        for tries in 1.. {
            let mut exchange = Exchange::begun(step.method, self.line.url(path), body);
            let reply = self.line.send(step.method, path, body);
            exchange.status = reply.as_ref().ok().map(|reply| reply.status);
            progress.sent = Some(exchange);
            match reply {
                Ok(reply) if reply.is_success() && step.is_heard(&reply, used) => {
                    return Ok(Taken::Answered(reply.body));
                }
                Ok(reply) if reply.is_success() => {
                    let why =
                        format!("the platform answered {}, and the rest of its answer cannot be read", reply.status);
                    return self.found_or(step, progress, || Refused::lost("UNREADABLE", &why, step.idempotent));
                }
                Ok(reply) if step.tolerates(&reply) => return Ok(Taken::WasSo(reply.body)),
                Ok(reply) if waiting::is_limited(&reply) => {
                    // It was turned away before anything was done.
                    let pause = waiting::pause(&reply, tries);
                    if tries >= TRIES_MAX || !self.may_wait(pause, progress) {
                        return Err(Refused::limited(&reply, pause).into());
                    }
                }
                Ok(reply) if reply.status >= 500 => {
                    if let Some(found) = self.find(step, progress)? {
                        return Ok(Taken::Found(found));
                    }
                    if !step.idempotent {
                        let why = format!("the platform answered {}: {}", reply.status, reply.says());
                        return Err(Refused::lost(&reply.status.to_string(), &why, false).into());
                    }
                    unsure = true;
                    let pause = waiting::pause(&reply, tries);
                    if tries >= TRIES_MAX || !self.may_wait(pause, progress) {
                        return Err(Refused::broken(&reply, pause).into());
                    }
                }
                // What is done already may be refused the second time.
                Ok(reply) if unsure => return self.found_or(step, progress, || Refused::of(&reply)),
                Ok(reply) => return Err(Refused::of(&reply).into()),
                Err(Broken::Unsent(why)) => {
                    if tries >= TRIES_MAX || !self.may_wait(waiting::backoff(tries), progress) {
                        return Err(Refused::unreached(why).into());
                    }
                }
                Err(Broken::Cut(why)) => {
                    return self.found_or(step, progress, || Refused::lost("CUT", &why, step.idempotent));
                }
            }
        }
        Err(Stop::Unknown("it was tried too often".to_owned()))
    }

    /// What a step has done, or why it is taken not to have been done.
    fn found_or(&self, step: &Step, progress: &mut Progress, otherwise: impl Fn() -> Refused) -> Result<Taken, Stop> {
        self.find(step, progress)?.map(Taken::Found).ok_or_else(|| otherwise().into())
    }

    /// Takes the steps of an order, from the first that was not taken.
    fn take(&self, order: &Order, again: bool, progress: &mut Progress) -> Result<(), Stop> {
        for (at, step) in order.steps.iter().enumerate() {
            let mut path = numbered(&step.path, progress);
            let found = if again { self.find(step, progress)? } else { None };
            let taken = match found {
                Some(found) => Taken::Found(found),
                None if again && !step.idempotent => {
                    return Err(Refused::left(&format!("{} {}", step.method, self.line.url(&path))).into());
                }
                None => {
                    let Some((prepared, body)) = self.prepared(step, progress)? else { continue };
                    path = prepared;
                    self.step(step, (&path, body.as_ref()), (order.uses(at), again), progress)?
                }
            };
            if step.looks_after && self.find(step, progress)?.is_none() {
                return Err(Refused::passed_over().into());
            }
            progress.took(step, &self.line.url(&path), at == order.main, taken);
        }
        Ok(())
    }

    /// Reads what is there at the end, where an order says where.
    fn look(&self, order: &Order, progress: &mut Progress) -> Result<(), Stop> {
        let Some(path) = &order.shows else { return Ok(()) };
        let (status, why) = match self.read(path, progress) {
            Ok(Page { status, body, .. }) if status < 300 => {
                progress.main = body;
                return Ok(());
            }
            Ok(Page { status, .. }) => {
                (Some(status), format!("the platform answered {status} when it was asked what is there"))
            }
            Err(why) => (None, why),
        };
        if order.steps.iter().any(|step| !step.idempotent) {
            // The platform has done it, and it is not done again to be seen.
            progress.note(format!("what is there now could not be read: {why}"));
            return Ok(());
        }
        match status {
            Some(404 | 410) => Err(Refused::absent("the resource").into()),
            _ => Err(Stop::Unknown(why)),
        }
    }

    /// The path and the body of a step, with what it takes from elsewhere. None, if it falls away.
    fn prepared(&self, step: &Step, progress: &mut Progress) -> Result<Option<(String, Option<Value>)>, Stop> {
        let mut path = numbered(&step.path, progress);
        let mut body = step.body.clone();
        let Some(take) = &step.takes else { return Ok(Some((path, body))) };
        let taken = match &take.path {
            Some(from) => self.taken(take, from, progress)?,
            None => (take.find)(&progress.last),
        };
        let Some(taken) = taken else {
            let Some(says) = take.or_skip else { return Err(Refused::absent(take.field).into()) };
            progress.note(says.to_owned());
            return Ok(None);
        };
        if take.field.starts_with('{') {
            path = path.replace(take.field, taken.as_str().unwrap_or_default());
        } else if let Some(body) = &mut body {
            body[take.field] = taken;
        }
        Ok(Some((path, body)))
    }
}

impl Executor for GithubExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Github
    }

    fn seconds(&self) -> u32 {
        SECONDS
    }

    fn obstacles(&self, instruction: &DelegationInstruction, valid: bool) -> Vec<Obstacle> {
        if !valid {
            return Vec::new();
        }
        let found = feasible::look(self, instruction);
        let id = instruction.instruction_id.to_string();
        *self.limited.borrow_mut() = found.limited;
        *self.forbidden.borrow_mut() = found.forbidden.map(|(refused, exchange)| (id, refused, exchange));
        found.wrong
    }

    fn before(&self, instruction: &DelegationInstruction) -> Option<String> {
        let name = table::deleted(&instruction.action.parameters)?;
        let path = format!("/repos/{}/git/ref/{}", instruction.requester.repository, table::escaped(&name, true));
        // Asked once: without it the action is tried all the same, and what is not known of it is said.
        let reply = self.line.send("GET", &path, None).ok().filter(Reply::is_success)?;
        reply.body["object"]["sha"].as_str().and_then(said::named)
    }

    fn act(&self, instruction: &DelegationInstruction, attempt: &Attempt<'_>) -> Result<Value, String> {
        let again = attempt.again;
        // What an earlier attempt made is younger than the instruction; what this one makes, than this moment.
        let from = if again { instruction.timestamp.as_str().to_owned() } else { now() };
        let order = table::order_from(instruction, &from, Some(attempt.before.unwrap_or_default()));
        let main = order.steps.get(order.main).ok_or("nothing is to be sent for it")?;
        let otherwise = Exchange::begun(main.method, self.line.url(&main.path), main.body.as_ref());
        let mut progress = Progress::default();
        // What was seen to be forbidden a moment ago is not tried.
        if let Some((id, refused, exchange)) = self.forbidden.borrow_mut().take().filter(|_| !again)
            && id == instruction.instruction_id.as_str()
        {
            progress.seen = Some(exchange);
            return Ok(refused.acted(&progress, &otherwise, &now()));
        }
        // Who asked to be left alone is, also where only a look was told so.
        if let Some((refused, exchange, until)) = self.limited.borrow_mut().take().filter(|_| !again)
            && !self.may_wait(whole_seconds(until.saturating_duration_since(Instant::now())), &mut progress)
        {
            progress.seen = Some(exchange);
            return Ok(refused.acted(&progress, &otherwise, &now()));
        }
        let taken = self.take(&order, again, &mut progress).and_then(|()| self.look(&order, &mut progress));
        match taken {
            Ok(()) => reading::done(instruction, &progress, &self.line.web(), &now()),
            Err(Stop::Refused(refused)) => {
                // What the words of the platform leave open, its state may tell.
                let clears = if refused.is_blocked() { self.clears_by_itself(instruction) } else { None };
                Ok(refused.clearing(clears).acted(&progress, &otherwise, &now()))
            }
            Err(Stop::Unknown(why)) => {
                let done = progress.done().map(|done| format!("; done before that: {done}")).unwrap_or_default();
                Err(format!("{why}{done}"))
            }
        }
    }

    fn verify(&self, instruction: &DelegationInstruction, response: &Value) -> Result<Seen, String> {
        self.seen(instruction, response)
    }

    fn constraint(&self, instruction: &DelegationInstruction) -> Result<Option<String>, String> {
        self.standing_against(instruction)
    }
}

/// As long, and up to the next second, as platforms count.
fn whole_seconds(pause: Duration) -> Duration {
    Duration::from_secs(pause.as_secs() + u64::from(pause.subsec_nanos() > 0))
}

/// A path with the number of what was made, once that is known.
fn numbered(path: &str, progress: &Progress) -> String {
    path.replace("{number}", &progress.main["number"].to_string())
}

/// Whether a reply's text has one of some words in it.
fn mentions(reply: &Reply, words: &[&str]) -> bool {
    let says = reply.said().to_lowercase();
    words.iter().any(|word| says.contains(word))
}
