//! Actions on GitHub, or on a platform that speaks as it does, over its REST interface.
//!
//! ```text
//! step ─▶ sent ─┬─ done ─────────────────────────────▶ next step
//!               ├─ limited ──▶ waited as the headers say ──▶ sent again
//!               ├─ 5xx ──▶ looked for ──▶ found: next step; not found: waited, and sent again
//!               ├─ cut after it was sent ──▶ looked for ──▶ found: next step; not found: failed, never sent again
//!               └─ refused ──▶ failed, or blocked by a rule of the platform
//! ```
//!
//! [`table`] says what is sent for each action and how it is looked for. Waiting is within a patience; where that does not
//! reach, the response says when to try again.

mod line;
mod reading;
mod refused;
mod step;
mod table;
mod waiting;

use super::{Executor, Obstacle, now};
use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::delegation::payload::DelegationInstruction;
use line::{Broken, Line, Reply};
use refused::Refused;
use serde_json::{Value, json};
use std::time::Duration;
use step::{Order, Step};

/// Where GitHub is asked.
pub const GITHUB: &str = "https://api.github.com";
/// How long is waited in all before the requester is told to come back.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may act: every request ends in time by itself, and so does all waiting.
const SECONDS: u32 = 1800;
/// How often something is sent at the most.
const TRIES_MAX: u32 = 5;

/// Acts on GitHub.
pub struct GithubExecutor {
    line: Line,
    patience: Duration,
    wait: Box<dyn Fn(Duration)>,
}

/// Why a step ended an action.
enum Stop {
    /// The platform said no, or it cannot be told that it said yes.
    Refused(Box<Refused>),
    /// It is not known, and nothing should be said before it is.
    Unknown(String),
}

/// What has been done so far of an order.
#[derive(Default)]
struct Progress {
    waited: Duration,
    /// The last answer, and that to the main step.
    last: Value,
    main: Value,
    status: u16,
    found: bool,
}

impl GithubExecutor {
    /// Acts at an address, with a token.
    pub fn new(url: &str, token: &str) -> Result<Self, String> {
        Ok(Self { line: Line::new(url, token, None)?, patience: PATIENCE, wait: Box::new(std::thread::sleep) })
    }

    /// The same with another patience for a single answer and for all waiting, and with another way to wait.
    pub fn waiting(
        url: &str,
        token: &str,
        (answer, all): (Duration, Duration),
        wait: impl Fn(Duration) + 'static,
    ) -> Result<Self, String> {
        Ok(Self { line: Line::new(url, token, Some(answer))?, patience: all, wait: Box::new(wait) })
    }

    /// Reads a path, and waits as long as that takes.
    fn read(&self, path: &str, progress: &mut Progress) -> Result<(u16, Value), String> {
        for tries in 1.. {
            let (why, pause) = match self.line.send("GET", path, None) {
                Ok(reply) if reply.status >= 500 || waiting::is_limited(&reply) => {
                    (reply.says(), waiting::pause(&reply, tries))
                }
                Ok(reply) => return Ok((reply.status, reply.body)),
                Err(Broken::Unsent(why) | Broken::Cut(why)) => (why, waiting::backoff(tries)),
            };
            if tries >= TRIES_MAX || !self.may_wait(pause, progress) {
                return Err(why);
            }
        }
        Err("it was tried too often".to_owned())
    }

    /// Waits, if that is within the patience.
    fn may_wait(&self, pause: Duration, progress: &mut Progress) -> bool {
        let waited = progress.waited + pause;
        if waited > self.patience {
            return false;
        }
        progress.waited = waited;
        (self.wait)(pause);
        true
    }

    /// Whether a step was done, and what shows it.
    fn find(&self, step: &Step, progress: &mut Progress) -> Result<Option<Value>, String> {
        let number = progress.main["number"].to_string();
        let progress = std::cell::RefCell::new(progress);
        (step.probe)(&|path| self.read(&path.replace("{number}", &number), &mut progress.borrow_mut()))
    }

    fn step(&self, step: &Step, path: &str, body: Option<&Value>, progress: &mut Progress) -> Result<Value, Stop> {
        for tries in 1.. {
            match self.line.send(step.method, path, body) {
                Ok(reply) if reply.is_success() || step.tolerates.contains(&reply.status) => {
                    progress.status = if reply.is_success() { reply.status } else { 200 };
                    return Ok(reply.body);
                }
                Ok(reply) if waiting::is_limited(&reply) => {
                    // It was turned away before anything was done.
                    let pause = waiting::pause(&reply, tries);
                    if tries >= TRIES_MAX || !self.may_wait(pause, progress) {
                        return Err(Stop::Refused(Box::new(Refused::limited(&reply, pause))));
                    }
                }
                Ok(reply) if reply.status >= 500 => {
                    if let Some(found) = self.found(step, progress)? {
                        return Ok(found);
                    }
                    let pause = waiting::pause(&reply, tries);
                    if tries >= TRIES_MAX || !self.may_wait(pause, progress) {
                        return Err(Stop::Refused(Box::new(Refused::broken(&reply, pause))));
                    }
                }
                Ok(reply) => return Err(Stop::Refused(Box::new(Refused::of(&reply)))),
                Err(Broken::Unsent(why)) => {
                    if tries >= TRIES_MAX || !self.may_wait(waiting::backoff(tries), progress) {
                        return Err(Stop::Refused(Box::new(Refused::unreached(why))));
                    }
                }
                Err(Broken::Cut(why)) => {
                    return match self.found(step, progress)? {
                        Some(found) => Ok(found),
                        None => Err(Stop::Refused(Box::new(Refused::lost(why, step.idempotent)))),
                    };
                }
            }
        }
        Err(Stop::Unknown("it was tried too often".to_owned()))
    }

    /// Looks for what a step may have done already.
    fn found(&self, step: &Step, progress: &mut Progress) -> Result<Option<Value>, Stop> {
        let found = self.find(step, progress).map_err(Stop::Unknown)?;
        if found.is_some() {
            (progress.status, progress.found) = (200, true);
        }
        Ok(found)
    }

    /// Takes the steps of an order, from the first that was not taken.
    fn take(&self, order: &Order, again: bool, progress: &mut Progress) -> Result<(), Stop> {
        for (at, step) in order.steps.iter().enumerate() {
            let found = if again { self.found(step, progress)? } else { None };
            let answer = match found {
                Some(found) => found,
                None => {
                    let Some((path, body)) = self.prepared(step, progress)? else { continue };
                    self.step(step, &path, body.as_ref(), progress)?
                }
            };
            if step.looks_after && self.find(step, progress).map_err(Stop::Unknown)?.is_none() {
                return Err(Stop::Refused(Box::new(Refused::passed_over())));
            }
            if at == order.main {
                progress.main = answer.clone();
            }
            progress.last = answer;
        }
        Ok(())
    }

    /// The path and the body of a step, with what it takes from elsewhere. None, if it falls away.
    fn prepared(&self, step: &Step, progress: &mut Progress) -> Result<Option<(String, Option<Value>)>, Stop> {
        let mut path = step.path.replace("{number}", &progress.main["number"].to_string());
        let mut body = step.body.clone();
        let Some(take) = &step.takes else { return Ok(Some((path, body))) };
        let taken = match &take.path {
            Some(from) => {
                let (status, value) = self.read(from, progress).map_err(Stop::Unknown)?;
                Some(value).filter(|_| status < 300).as_ref().and_then(&take.find)
            }
            None => (take.find)(&progress.last),
        };
        let Some(taken) = taken else {
            return if take.or_skip { Ok(None) } else { Err(Stop::Refused(Box::new(Refused::absent(take.field)))) };
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

    fn obstacles(&self, _: &DelegationInstruction) -> Vec<Obstacle> {
        Vec::new()
    }

    fn act(&self, instruction: &DelegationInstruction, again: bool) -> Result<Value, String> {
        let order = table::order(instruction);
        let sent = now();
        let mut progress = Progress::default();
        let mut taken = self.take(&order, again, &mut progress);
        if let (Ok(()), Some(path)) = (&taken, &order.shows) {
            match self.read(path, &mut progress)? {
                (status, value) if status < 300 => progress.main = value,
                (404 | 410, _) => taken = Err(Stop::Refused(Box::new(Refused::absent("the resource")))),
                (status, _) => return Err(format!("the platform answered {status} when it was asked what is there")),
            }
        }
        let main = order.steps.get(order.main).ok_or("nothing is to be sent for it")?;
        let parameters = main.body.clone().unwrap_or_else(|| json!({}));
        let request = json!({
            "ENDPOINT": self.line.url(&main.path), "METHOD": main.method, "PARAMETERS": parameters, "TIMESTAMP_UTC": sent,
        });
        match taken {
            Ok(()) => Ok(reading::done(instruction, &progress, &self.line.web(), request, &now())),
            Err(Stop::Refused(refused)) => Ok(refused.acted(request, &now())),
            Err(Stop::Unknown(why)) => Err(why),
        }
    }
}

/// Whether a reply's text has one of some words in it.
fn mentions(reply: &Reply, words: &[&str]) -> bool {
    let says = reply.says().to_lowercase();
    words.iter().any(|word| says.contains(word))
}
