//! `countersign hook`

use super::{Exit, Global, output};
use crate::files;
use crate::hook::{self, Answer, Asker, Event, Harness};
use clap::ValueEnum;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Answer a hook of a coding agent, or of git
///
/// Reads what the client tells from standard input and answers in its form: a write outside of what the actor holds is
/// denied, and a session that ends with unfinished tasks is kept going. Says nothing in a project that Countersign does not
/// manage. `countersign install` sets it up.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign hook claude-code < event.json
  countersign hook codex --deadline 3 < event.json
  countersign hook git

Exit codes: 0 answered on standard output, 2 refused on standard error.")]
pub struct Args {
    /// The client
    #[arg(value_enum)]
    client: Harness,

    /// After how many seconds an answer is given without having found out; it is then a refusal
    #[arg(long, value_name = "SECONDS", default_value_t = DEADLINE, value_parser = seconds)]
    deadline: f64,
}

/// The deadline unless another is given, in seconds.
const DEADLINE: f64 = 5.0;

impl Args {
    /// What it means to name a client and nothing else.
    pub fn of(client: &str) -> Option<Self> {
        let client = Harness::value_variants().iter().find(|it| it.as_str() == client)?;
        Some(Self { client: *client, deadline: DEADLINE })
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if (0.01..=600.0).contains(&seconds) { Ok(seconds) } else { Err("it is not between 0.01 and 600".to_owned()) }
}

/// What whoever works and whoever watches the time have in common.
#[derive(Default)]
struct Shared {
    /// Whether it is known that something is managed.
    managed: AtomicBool,
    /// Whether one of them answers; the other then says nothing.
    answered: AtomicBool,
    /// How it ends, once it was answered.
    exit: Mutex<Option<Exit>>,
    /// What is asked, once it is known.
    event: Mutex<Option<Event>>,
}

impl Shared {
    /// Whether it is the caller's to answer.
    fn may_answer(&self) -> bool {
        !self.answered.swap(true, Ordering::SeqCst)
    }

    /// Answers, unless that was done.
    fn answer(&self, client: Harness, answer: &Answer) {
        if self.may_answer() {
            let exit = say(client, answer);
            *self.exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit);
        }
    }

    /// How it ends: waits until whoever answers has done so.
    fn exit(&self) -> Exit {
        loop {
            if let Some(exit) = *self.exit.lock().unwrap_or_else(PoisonError::into_inner) {
                return exit;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn event(&self) -> MutexGuard<'_, Option<Event>> {
        self.event.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn run(args: &Args, global: &Global, project: Option<&Path>) -> Exit {
    let shared = Arc::new(Shared::default());
    watch(args, global, project, Arc::clone(&shared));
    let tell = |answer: &Answer| shared.answer(args.client, answer);
    let asker = Asker { harness: args.client, global, project, managed: &shared.managed, tell: &tell };
    let answer = work(&asker, &shared);
    tell(&answer);
    shared.exit()
}

/// Answers in doubt when the time is over. Reading, the ledger and git may each wait, and none of them can be told to stop.
fn watch(args: &Args, global: &Global, project: Option<&Path>, shared: Arc<Shared>) {
    let (client, seconds) = (args.client, args.deadline);
    let (ledger, named) = (global.ledger.clone(), project.map(Path::to_owned));
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs_f64(seconds));
        let global = Global { ledger, actor: None, token_file: None, server: None };
        let (project, managed) = (named.as_deref(), &shared.managed);
        let asker = Asker { harness: client, global: &global, project, managed, tell: &|_| {} };
        let why = format!("no answer was found within {seconds} s");
        let answer = doubt(&asker, shared.event().as_ref(), &why);
        shared.answer(client, &answer);
        // What is still waited for after the answer is not worth waiting for.
        std::process::exit(shared.exit() as i32);
    });
}

fn work(asker: &Asker<'_>, shared: &Shared) -> Answer {
    if asker.harness == Harness::Git {
        return hook::git::commit(asker).unwrap_or_else(|error| doubt(asker, None, &format!("{error:#}")));
    }
    let read = files::read_stdin(hook::SIZE_MAX).map_err(|unread| unread.why(hook::SIZE_MAX));
    let event = match read.and_then(|bytes| Event::read(&bytes)) {
        Ok(event) => event,
        Err(why) => return doubt(asker, None, &format!("what the client told cannot be read: {why}")),
    };
    *shared.event() = Some(event.brief());
    hook::answer(asker, &event).unwrap_or_else(|error| doubt(asker, Some(&event), &format!("{error:#}")))
}

/// In doubt it is refused, in a project that is managed.
fn doubt(asker: &Asker<'_>, event: Option<&Event>, why: &str) -> Answer {
    let is_here = || hook::here(asker, event).map_or(true, |project| project.is_some());
    let managed = asker.managed.load(Ordering::SeqCst) || is_here();
    match event {
        _ if !managed => Answer::nothing(),
        Some(event) => hook::doubt(event, why),
        None => Answer::refuse(&format!("Countersign cannot tell whether this is allowed: {why}")),
    }
}

fn say(client: Harness, answer: &Answer) -> Exit {
    if let Some(reason) = &answer.err {
        output::say(reason);
        return Exit::Usage;
    }
    // Git shows what its hooks print to whoever commits.
    if client != Harness::Git {
        output::print(&format!("{}\n", answer.out));
    }
    if output::landed() {
        return Exit::Allowed;
    }
    // An answer that nobody read is none.
    output::say("Countersign could not answer: standard output cannot be written");
    Exit::Usage
}
