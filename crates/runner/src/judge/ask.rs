//! Asking a judge: at most four times, and never longer than there is patience.

use super::form::{self, End, Form, Question, Said};
use super::line::{self, Broken, Line, Response};
use super::{Case, Judged, Unreachable, Verdict, clean, prompt, read, wait};
use countersign_domain::plan::payload::Endpoint;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How often an endpoint is asked.
const ATTEMPTS_MAX: u32 = 4;
/// How long the first wait is where the endpoint does not say; each further one is twice as long.
const WAIT: Duration = Duration::from_secs(1);
/// How many tokens an answer may have: enough for the reasoning, and for a model that thinks before it answers.
const ROOM: u64 = 8_192;
/// The same for an answer that was cut once.
const ROOM_AFTER_CUT: u64 = 32_768;
/// How much of an endpoint's own words is repeated.
const QUOTE_MAX: usize = 300;

/// What one attempt came to.
enum Came {
    Verdict(Verdict, String),
    /// Ask again, after the time that the endpoint names or after a while.
    Again(String, Option<Duration>),
    /// Ask again without holding the answer to a schema.
    Plainly(String),
    /// Ask again with more room.
    Wider(String),
    /// Do not ask again.
    Never(String),
}

/// Asks the judge at an endpoint about a case, within some patience. `sleep` waits between attempts, and says whether to
/// go on; how long it was told to wait is taken off the patience, whether or not it does. The key is shown to the endpoint and goes nowhere else.
///
/// # Errors
/// There is no verdict: the endpoint cannot be asked, does not answer in time, refuses, or says something else.
pub fn ask(
    endpoint: &Endpoint,
    key: &str,
    case: &Case<'_>,
    patience: Duration,
    sleep: &dyn Fn(Duration) -> ControlFlow<()>,
) -> Result<Judged, Unreachable> {
    let before =
        |why: String| Unreachable { why: without_key(&why, key), attempts: 0, input_tokens: 0, output_tokens: 0 };
    let asking = Asking::new(endpoint, key).map_err(before)?;
    let (system, user) = prompt(case);
    let mut question =
        Question { model: endpoint.model.as_str(), system: &system, user: &user, room: ROOM, held: true };
    let mut judged = Judged {
        verdict: Verdict::Fail,
        reasoning: String::new(),
        model: endpoint.model.as_str().to_owned(),
        input_tokens: 0,
        output_tokens: 0,
        attempts: 0,
        took: Duration::ZERO,
    };
    loop {
        let left = patience.saturating_sub(judged.took);
        let began = Instant::now();
        judged.attempts += 1;
        let came = asking.attempt(&question, left, &mut judged);
        judged.took += began.elapsed();
        let (why, pause) = match came {
            Came::Verdict(verdict, reasoning) => {
                (judged.verdict, judged.reasoning) = (verdict, reasoning);
                return Ok(judged);
            }
            Came::Never(why) => return Err(asking.unreachable(&why, &judged)),
            Came::Again(why, wait) => (why, wait.unwrap_or(WAIT * 2u32.pow(judged.attempts - 1))),
            Came::Plainly(why) => {
                question.held = false;
                (why, Duration::ZERO)
            }
            Came::Wider(why) => {
                question.room = ROOM_AFTER_CUT;
                (why, Duration::ZERO)
            }
        };
        if judged.attempts == ATTEMPTS_MAX {
            return Err(asking.unreachable(&why, &judged));
        }
        let left = patience.saturating_sub(judged.took);
        if pause >= left {
            let (pause, left) = (pause.as_secs_f32(), left.as_secs_f32());
            let why =
                format!("{why}; the next attempt would be in {pause:.1} s, and there is patience for {left:.1} s");
            return Err(asking.unreachable(&why, &judged));
        }
        if !pause.is_zero() && sleep(pause).is_break() {
            return Err(asking.unreachable(&why, &judged));
        }
        judged.took += pause;
    }
}

/// An endpoint that can be asked.
struct Asking<'a> {
    form: Form,
    line: Line,
    key: &'a str,
    /// The name of the variable that holds the key, for messages.
    variable: &'a str,
}

impl<'a> Asking<'a> {
    fn new(endpoint: &'a Endpoint, key: &'a str) -> Result<Self, String> {
        let variable = endpoint.key.as_str();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("the variable {variable} holds no usable key; set it to the judge's key"));
        }
        let uri = line::address(endpoint.url.as_str())?;
        let form = Form::of(uri.path()).ok_or_else(|| {
            let path = countersign_contract::show(uri.path());
            format!("`{path}` tells no form of judge; the path ends with /messages, /chat/completions or /responses")
        })?;
        Ok(Self { form, line: Line::new(&uri)?, key, variable })
    }

    fn attempt(&self, question: &Question<'_>, left: Duration, judged: &mut Judged) -> Came {
        let body = self.form.request(question).to_string();
        match self.line.post(&self.form.headers(self.key), &body, left) {
            Err(Broken::Late) => Came::Never(format!("the judge did not answer within {:.1} s", left.as_secs_f32())),
            Err(Broken::Passing(why)) => Came::Again(why, None),
            Err(Broken::Lasting(why)) => Came::Never(why),
            Ok(response) if (200..300).contains(&response.status) => match self.form.response(&response.body) {
                Some(said) => self.heard(said, question, judged),
                None if response.body.is_empty() => Came::Again("the judge's response is empty".to_owned(), None),
                None => Came::Again("the judge's response is not what its form says it is".to_owned(), None),
            },
            Ok(response) => self.declined(&response, question),
        }
    }

    /// What an answer means.
    fn heard(&self, said: Said, question: &Question<'_>, judged: &mut Judged) -> Came {
        judged.input_tokens = judged.input_tokens.saturating_add(said.input_tokens);
        judged.output_tokens = judged.output_tokens.saturating_add(said.output_tokens);
        if let Some(model) = said.model {
            judged.model = countersign_contract::show(&without_key(&model, self.key));
        }
        match said.end {
            End::Text(text) => match read(&without_key(&text, self.key)) {
                Ok((verdict, reasoning)) => Came::Verdict(verdict, without_key(&reasoning, self.key)),
                Err(why) => Came::Again(why, None),
            },
            End::Refused(why) => Came::Never(format!("the judge refused to judge: {}", self.quote(&why))),
            End::Cut if question.room < ROOM_AFTER_CUT => Came::Wider("the judge's answer was cut".to_owned()),
            End::Cut => {
                Came::Never("the judge's answer was cut twice; use a model that answers more briefly".to_owned())
            }
            End::TooLong => Came::Never("the case is longer than the judge's model can read; use another".to_owned()),
            End::Nothing => Came::Again("the judge's response has no answer in it".to_owned(), None),
            End::Error(why) => Came::Again(format!("the judge answered with an error: {}", self.quote(&why)), None),
        }
    }

    /// What a status means that is not one of success.
    fn declined(&self, response: &Response, question: &Question<'_>) -> Came {
        let (status, variable) = (response.status, self.variable);
        let problem = form::problem(&response.body);
        let words = problem.message.as_deref().map(|message| format!(": {}", self.quote(message))).unwrap_or_default();
        let asked = || wait::asked(|name| response.header(name), jiff::Timestamp::now());
        match status {
            300..400 => {
                Came::Never(format!("the judge sends elsewhere ({status}), which is not followed; see its address"))
            }
            401 | 403 => {
                Came::Never(format!("the judge does not accept the key ({status}){words}; see the variable {variable}"))
            }
            400 | 422 if question.held && problem.message.as_deref().is_some_and(form::is_about_holding) => {
                Came::Plainly(format!("the judge cannot be held to a form ({status}){words}"))
            }
            402 => Came::Never(format!("the judge's account is used up ({status}){words}; see its billing")),
            404 => Came::Never(format!("the judge is not there ({status}){words}; see its address and its model")),
            413 => Came::Never(format!("the case is too long for the judge ({status}){words}")),
            _ if problem.spent => {
                Came::Never(format!("the judge's account is used up ({status}){words}; see its billing"))
            }
            408 | 409 | 429 | 500..600 => {
                let why = match status {
                    429 => format!("the judge is asked too often ({status}){words}"),
                    503 | 529 => format!("the judge is overloaded ({status}){words}"),
                    _ => format!("the judge failed ({status}){words}"),
                };
                match response.header("x-should-retry").as_deref() {
                    Some("false") => Came::Never(why),
                    _ => Came::Again(why, asked()),
                }
            }
            _ => Came::Never(format!("the judge does not take the request ({status}){words}")),
        }
    }

    /// An endpoint's words, to stand in a message.
    fn quote(&self, words: &str) -> String {
        clean(&without_key(words, self.key), QUOTE_MAX).replace(['\n', '\t'], " ")
    }

    fn unreachable(&self, why: &str, asked: &Judged) -> Unreachable {
        let Judged { attempts, input_tokens, output_tokens, .. } = *asked;
        Unreachable { why: without_key(why, self.key), attempts, input_tokens, output_tokens }
    }
}

/// A text in which the key does not stand, whoever wrote it there. Keys may have any form, so that no scan knows them all.
fn without_key(text: &str, key: &str) -> String {
    if key.is_empty() { text.to_owned() } else { text.replace(key, "[REDACTED:key]") }
}
