//! Branches and tags in the project's own repository.
//!
//! | action | done by | done already, if |
//! |---|---|---|
//! | `CREATE_BRANCH` | `update-ref REF SHA 0…0` | the branch is at that commit |
//! | `CREATE_TAG` | `mktag` if it is annotated, `update-ref REF OBJECT 0…0` | the tag is at that commit, and of that kind |
//! | `DELETE_BRANCH`, `DELETE_TAG` | `update-ref -d REF OLD` | it is not there |
//!
//! What cannot be done is an invalid request, as far as it can be seen before anything is tried: a name that is taken or not there, one
//! inside of another, a commit that is not there. Only what somebody changed meanwhile is a failure.
//!
//! The old value is given each time, so that nothing is overwritten that somebody else made meanwhile; and what is there
//! afterwards decides what came of it, not what git said. Of what is deleted it is the value from before the first attempt:
//! a name that is at another by then may be somebody else's, and nobody deletes it. Git knows no HTTP: 201, 204, 409, 422 and
//! 500 stand for what GitHub would have answered.
//!
//! What is done is done in this clone, and pushed nowhere: the answer says so.
//!
//! Git takes longer to start than to answer. So what does not depend on another answer is asked at once, and where it can be
//! foreseen before anybody waits for it; what was looked at before is not looked at again by the first attempt; whoever looks at
//! what was done is started beside whoever does it; and what was seen then is what is said about the outcome.

use super::address::{Address, address_of, escaped};
use super::asking::{self, Question, Said};
use super::wanted::Wanted;
use super::{Attempt, Executor, Obstacle, Seen, in_seconds, now, said};
use crate::worktree::Identity;
use crate::worktree::call::{Begun, Fault, Git, object};
use countersign_contract::show;
use countersign_domain::delegation::action::{ActionType, Effect};
use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::delegation::payload::DelegationInstruction;
use serde_json::{Value, json};
use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::thread::JoinHandle;

/// How long it may act: a handful of calls, each of which ends in time by itself.
const SECONDS: u32 = 1800;
/// How much is told of what git says.
const SAID_MAX: usize = 1000;
/// What a name is at that is not there.
const NOTHING: &str = "0000000000000000000000000000000000000000";
/// Where resources are said to be, if the repository has no address.
const NOWHERE: &str = "localhost";

/// Acts on the repository that a folder belongs to.
#[derive(Debug)]
pub struct GitExecutor {
    /// The folder.
    folder: PathBuf,
    /// Who makes annotated tags.
    identity: Identity,
    /// Where the repository is, once that was asked.
    address: OnceCell<Address>,
    /// The question that was asked before anybody waited for its answer.
    foreseen: RefCell<Option<(Question, JoinHandle<Said>)>>,
    /// The instruction against which nothing was seen to stand before it was received.
    clear: RefCell<Option<String>>,
    /// The instruction that was acted on last, and what was seen when that was done.
    seen: RefCell<Option<(String, Seen)>>,
}

/// Why something was not done.
struct Declined {
    status: &'static str,
    error_type: &'static str,
    /// The field of the instruction that it is about.
    field: &'static str,
    code: u16,
    message: String,
    remedy: &'static str,
    retry: bool,
    /// Whether it may have been done all the same.
    unknown: bool,
}

impl Declined {
    /// An earlier attempt may have deleted it, and what is there now is not what was there then.
    fn left(wanted: &Wanted) -> Self {
        let (noun, short) = (wanted.noun(), &wanted.short);
        let message = format!(
            "whether it was done is not known: an earlier attempt that did not end may have deleted {noun} {short}, and what \
             is there now is not known to be what was there before; it was not deleted now"
        );
        let remedy = "a person must look whose it is; if it is to go, give it again under a new instruction id";
        Self { error_type: "API_ERROR", code: 409, unknown: true, ..Self::invalid(wanted.field(), message, remedy) }
    }

    /// It is there as it was asked for, and git did not say that it made it.
    fn theirs(wanted: &Wanted) -> Self {
        let (noun, short) = (wanted.noun(), &wanted.short);
        let message = format!(
            "whether it was done is not known: git failed to make {noun} {short}, which is there all the same, and may be \
             somebody else's"
        );
        let remedy =
            "a person must look whose it is; if it is to be made, delete that one and give it again under a new id";
        Self { error_type: "API_ERROR", code: 409, unknown: true, ..Self::invalid(wanted.field(), message, remedy) }
    }

    /// It cannot be seen whether it can be done, and so it was not tried.
    fn unseen(wanted: &Wanted, why: &str) -> Self {
        let message = format!("git could not be asked whether it can be done: {}", said::told(why, SAID_MAX));
        let remedy = "see what git says, and delegate it under a new id";
        Self { error_type: "API_ERROR", code: 500, retry: true, ..Self::invalid(wanted.field(), message, remedy) }
    }

    fn invalid(field: &'static str, message: String, remedy: &'static str) -> Self {
        Self {
            status: "FAILURE",
            error_type: "VALIDATION_FAILURE",
            field,
            code: 422,
            message,
            remedy,
            retry: false,
            unknown: false,
        }
    }
}

impl GitExecutor {
    /// Acts on the repository that a folder belongs to, and makes annotated tags in somebody's name.
    pub fn new(folder: PathBuf, identity: Identity) -> Self {
        let (foreseen, clear, seen) = (RefCell::default(), RefCell::default(), RefCell::default());
        Self { folder, identity, address: OnceCell::new(), foreseen, clear, seen }
    }

    fn git(&self) -> Git<'_> {
        Git::at(&self.folder)
    }

    /// What a name is at: a commit, or a tag's own object.
    fn value(&self, full: &str) -> Result<Option<String>, String> {
        let names = asking::read_names(&self.git().run(&asking::names(&[full]), b"")?)?;
        Ok(names.into_iter().find(|(name, _)| name == full).map(|(_, value)| value))
    }

    /// Whether a name is as it is wanted.
    fn is_done(&self, wanted: &Wanted) -> Result<bool, String> {
        let out = self.git().run(&["for-each-ref", wanted.format(), &wanted.full], b"")?;
        wanted.is_seen_in(&out)
    }

    /// The same by a look that was begun and waits to be told at what. Before 2.41 git waits for no such thing.
    fn is_done_by(&self, look: Option<Begun>, wanted: &Wanted) -> Result<bool, String> {
        match look.and_then(|look| look.tell(format!("{}\n", wanted.full).as_bytes()).ok()) {
            Some(out) => wanted.is_seen_in(&out),
            None => self.is_done(wanted),
        }
    }

    /// What stands against it, as far as can be seen now.
    fn declined(&self, wanted: &Wanted) -> Result<Option<Declined>, String> {
        let Said { names, kind, .. } = wanted.question(false).ask(&self.folder);
        self.judged(wanted, names?, kind?)
    }

    /// What stands against it, by the names that are there and the kind of what it is to be at.
    fn judged(
        &self,
        wanted: &Wanted,
        names: Vec<(String, String)>,
        kind: Option<String>,
    ) -> Result<Option<Declined>, String> {
        let (noun, short) = (wanted.noun(), &wanted.short);
        let there = names.into_iter().find(|(name, _)| wanted.is_in_the_way(name));
        Ok(match (&wanted.target, there) {
            (Some(_), Some((name, value))) if name == wanted.full => {
                let message = format!("{noun} {short} is there already, at {value}");
                let remedy = "choose another name, or delete that one first";
                Some(Declined::invalid(wanted.field(), message, remedy))
            }
            (Some(_), Some((name, _))) => {
                let other = name.strip_prefix(wanted.folder()).unwrap_or(&name);
                let message =
                    format!("{noun} {short} cannot be beside {noun} {}: one would be inside of the other", show(other));
                let remedy = "choose a name that neither lies inside of another nor has others inside of it";
                Some(Declined::invalid(wanted.field(), message, remedy))
            }
            (Some(target), None) if kind.as_deref() != Some("commit") => {
                let message = format!("the repository has no commit {target}");
                let remedy = "name a commit that the repository has; it may have to be fetched";
                Some(Declined::invalid(wanted.target_field(), message, remedy))
            }
            (None, None) => {
                let message = format!("there is no {noun} {short}");
                Some(Declined::invalid(wanted.field(), message, "name one that is there"))
            }
            (None, Some(_)) if !wanted.is_tag && self.is_checked_out(&wanted.full)? => Some(Declined {
                status: "BLOCKED",
                error_type: "PLATFORM_CONSTRAINT",
                field: wanted.field(),
                code: 409,
                message: format!("branch {short} is checked out in a working tree"),
                remedy: "check out another branch there, then delegate it under a new id",
                retry: true,
                unknown: false,
            }),
            _ => None,
        })
    }

    fn is_checked_out(&self, full: &str) -> Result<bool, String> {
        let out = self.git().run(&["worktree", "list", "--porcelain", "-z"], b"")?;
        let line = format!("branch {full}");
        Ok(out.split(|byte| *byte == 0).any(|piece| piece == line.as_bytes()))
    }

    /// Does it, and looks whether it is done. What git says of it is kept; what came of it is what is there then.
    fn attempt(&self, wanted: &Wanted, by: &str, before: Option<&str>) -> (Result<(), String>, Result<bool, String>) {
        let mut look = None;
        let said = self.change(wanted, by, before).and_then(|change| {
            // Whoever looks starts beside, and looks at nothing before the other is done.
            look = self.git().begin_idle(&["for-each-ref", wanted.format(), "--stdin"]).ok();
            Ok(change.answer().map(drop)?)
        });
        (said, self.is_done_by(look, wanted))
    }

    /// Begins what is to be done.
    fn change(&self, wanted: &Wanted, by: &str, before: Option<&str>) -> Result<Begun, String> {
        let git = self.git();
        let reason = format!("countersign: {by}");
        let Some(target) = &wanted.target else {
            let old = before.ok_or("what it was at before is not known")?;
            return Ok(git.begin(&["update-ref", "-m", &reason, "--no-deref", "-d", &wanted.full, old])?);
        };
        let value = match &wanted.message {
            None => target.clone(),
            Some(message) => {
                let Identity { name, email } = &self.identity;
                let seconds = jiff::Timestamp::now().as_second();
                let (short, end) = (&wanted.short, if message.ends_with('\n') { "" } else { "\n" });
                let tag = format!(
                    "object {target}\ntype commit\ntag {short}\ntagger {name} <{email}> {seconds} +0000\n\n{message}{end}"
                );
                object(&git.run(&["mktag"], tag.as_bytes())?)?
            }
        };
        Ok(git.begin(&["update-ref", "-m", &reason, "--no-deref", &wanted.full, &value, NOTHING])?)
    }

    /// Host, owner and name of the repository, by its address; nothing, if it has none that tells them.
    ///
    /// # Errors
    /// There is no repository.
    fn address(&self) -> Result<Address, Fault> {
        match self.address.get() {
            Some(address) => Ok(address.clone()),
            None => address_of(&self.folder).map(|address| self.address.get_or_init(|| address).clone()),
        }
    }

    /// The same, with what stands against what is wanted, both asked at once.
    fn address_and_declined(&self, wanted: &Wanted) -> (Result<Address, Fault>, Result<Option<Declined>, String>) {
        let question = wanted.question(self.address.get().is_none());
        let foreseen = self.foreseen.take().filter(|(asked, _)| *asked == question);
        // Whoever did not come to an answer is asked again.
        let said = foreseen.and_then(|(_, asked)| asked.join().ok()).unwrap_or_else(|| question.ask(&self.folder));
        let declined = said.names.and_then(|names| self.judged(wanted, names, said.kind?));
        let address = match said.address {
            Some(address) => address.map(|address| self.address.get_or_init(|| address).clone()),
            None => self.address(),
        };
        (address, declined)
    }

    fn url(&self, repository: &str, wanted: &Wanted) -> String {
        let host = self.address().ok().flatten().map_or_else(|| NOWHERE.to_owned(), |(host, _)| host);
        let part = if wanted.is_tag { "releases/tag" } else { "tree" };
        format!("https://{host}/{repository}/{part}/{}", escaped(&wanted.short))
    }
}

impl Executor for GitExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Git
    }

    fn seconds(&self) -> u32 {
        SECONDS
    }

    fn foresee(&self, instruction: &DelegationInstruction) {
        let Some(wanted) = Wanted::of(&instruction.action.parameters).filter(|wanted| wanted.fault().is_none()) else {
            return;
        };
        let (question, folder) = (wanted.question(self.address.get().is_none()), self.folder.clone());
        let asked = question.clone();
        // What cannot be asked beside is asked when it is needed.
        let beside = std::thread::Builder::new().spawn(move || asked.ask(&folder)).ok();
        *self.foreseen.borrow_mut() = beside.map(|beside| (question, beside));
    }

    fn obstacles(&self, instruction: &DelegationInstruction, valid: bool) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        let action = instruction.action.kind();
        let wanted = Wanted::of(&instruction.action.parameters);
        match &wanted {
            None => obstacles.push(Obstacle {
                field: "ACTION.TYPE",
                error: format!("git cannot carry out {action}"),
                expected: "CREATE_BRANCH, DELETE_BRANCH, CREATE_TAG or DELETE_TAG, or another executor".to_owned(),
            }),
            Some(wanted) => {
                if let Some(fault) = wanted.fault() {
                    let (field, expected) = (wanted.field(), "a name that git takes".to_owned());
                    obstacles.push(Obstacle { field, error: format!("the name {fault}"), expected });
                }
            }
        }
        let field = "REQUESTER.REPOSITORY";
        let wanted = wanted.filter(|_| valid && obstacles.is_empty());
        let (address, declined) = match &wanted {
            Some(wanted) => self.address_and_declined(wanted),
            None => (self.address(), Ok(None)),
        };
        match address {
            Err(Fault { code, text, .. }) => {
                let error = match code {
                    Some(_) => "there is no git repository in the project".to_owned(),
                    None => said::told(&text, SAID_MAX),
                };
                obstacles.push(Obstacle { field, error, expected: "a project in a git repository".to_owned() });
            }
            Ok(Some((_, path))) if !path.eq_ignore_ascii_case(instruction.requester.repository.as_str()) => {
                let error = format!("the repository here is {}", show(&path));
                obstacles.push(Obstacle { field, error, expected: "the repository that the project is in".to_owned() });
            }
            Ok(_) => {}
        }
        // What forbids it is for the action to find out, and to be answered with as such; and so is what could not be seen.
        match declined {
            Ok(Some(Declined { status: "FAILURE", field, message: error, remedy, .. })) if obstacles.is_empty() => {
                obstacles.push(Obstacle { field, error, expected: remedy.to_owned() });
            }
            Ok(None) if wanted.is_some() => *self.clear.borrow_mut() = Some(instruction.instruction_id.to_string()),
            _ => {}
        }
        obstacles
    }

    fn before(&self, instruction: &DelegationInstruction) -> Option<String> {
        let wanted = Wanted::of(&instruction.action.parameters).filter(|wanted| wanted.target.is_none())?;
        self.value(&wanted.full).ok().flatten()
    }

    fn act(&self, instruction: &DelegationInstruction, attempt: &Attempt<'_>) -> Result<Value, String> {
        let kind = instruction.action.kind();
        let wanted =
            Wanted::of(&instruction.action.parameters).ok_or_else(|| format!("git cannot carry out {kind}"))?;
        let sent = now();
        if attempt.again && self.is_done(&wanted)? {
            let sent = attempt.first.map_or(sent, in_seconds);
            return Ok(self.acted(instruction, &wanted, &sent, Ok(true)));
        }
        if attempt.again && wanted.target.is_none() && self.value(&wanted.full)?.as_deref() != attempt.before {
            let left = Declined::left(&wanted);
            return Ok(self.acted(instruction, &wanted, &sent, Err(left)));
        }
        // What is to be made was looked at a moment ago, before it was received; if it was, and if that could be seen.
        let is_clear = self.clear.borrow().as_deref() == Some(instruction.instruction_id.as_str());
        if attempt.again || wanted.target.is_none() || !is_clear {
            let declined = match self.declined(&wanted) {
                // Nothing was tried yet, by anybody.
                Err(why) if !attempt.again => Some(Declined::unseen(&wanted, &why)),
                declined => declined?,
            };
            if let Some(declined) = declined {
                return Ok(self.acted(instruction, &wanted, &sent, Err(declined)));
            }
        }
        let (said, done) = self.attempt(&wanted, instruction.instruction_id.as_str(), attempt.before);
        if done? {
            let done = if said.is_ok() || wanted.target.is_none() { Ok(false) } else { Err(Declined::theirs(&wanted)) };
            return Ok(self.acted(instruction, &wanted, &sent, done));
        }
        // Somebody may have been faster, which explains it best.
        let declined = self.declined(&wanted)?.unwrap_or_else(|| Declined {
            status: "FAILURE",
            error_type: "API_ERROR",
            field: wanted.field(),
            code: 500,
            message: said
                .err()
                .map_or_else(|| "git did not do it, and did not say why".to_owned(), |why| said::told(&why, SAID_MAX)),
            remedy: "see what git says; if it is in another's use, delegate it under a new id a little later",
            retry: true,
            unknown: false,
        });
        Ok(self.acted(instruction, &wanted, &sent, Err(declined)))
    }

    fn saw(&self, instruction: &DelegationInstruction) -> Option<Seen> {
        let seen = self.seen.borrow();
        seen.as_ref().filter(|(id, _)| id == instruction.instruction_id.as_str()).map(|(_, seen)| seen.clone())
    }

    fn verify(&self, instruction: &DelegationInstruction, _: &Value) -> Result<Seen, String> {
        let kind = instruction.action.kind();
        let wanted = Wanted::of(&instruction.action.parameters).ok_or_else(|| format!("git cannot see {kind}"))?;
        Ok(wanted.seen(self.is_done(&wanted)?))
    }

    fn constraint(&self, instruction: &DelegationInstruction) -> Result<Option<String>, String> {
        let Some(wanted) = Wanted::of(&instruction.action.parameters) else { return Ok(None) };
        Ok(self.declined(&wanted)?.filter(|declined| declined.status == "BLOCKED").map(|declined| declined.message))
    }
}

impl GitExecutor {
    /// What was done, as it is answered: found done by an earlier attempt, done now, or declined.
    fn acted(
        &self,
        instruction: &DelegationInstruction,
        wanted: &Wanted,
        sent: &str,
        done: Result<bool, Declined>,
    ) -> Value {
        let (noun, short, at) = (wanted.noun(), &wanted.short, now());
        let creates = wanted.target.is_some();
        // Nothing is called done that was not looked at.
        *self.seen.borrow_mut() = done.is_ok().then(|| (instruction.instruction_id.to_string(), wanted.seen(true)));
        let mut parameters = json!({ "ref": wanted.full });
        if let Some(target) = &wanted.target {
            parameters["sha"] = json!(target);
        }
        if let Some(message) = &wanted.message {
            parameters["message"] = json!(message);
        }
        let request = json!({
            "ENDPOINT": format!("git:{}", wanted.full), "METHOD": if creates { "POST" } else { "DELETE" },
            "PARAMETERS": parameters, "TIMESTAMP_UTC": sent,
        });
        match done {
            Ok(found) => {
                let code = if creates { 201 } else { 204 };
                let state = if creates { "there, in this clone alone" } else { "gone, in this clone alone" };
                let url = self.url(instruction.requester.repository.as_str(), wanted);
                let mut evidence = json!({
                    "RESOURCE_TYPE": noun, "RESOURCE_ID": resource_id(&wanted.full), "RESOURCE_URL": url,
                    "RESOURCE_STATE": if creates { "created, not pushed" } else { "deleted, not pushed" },
                    "API_RESPONSE_STATUS": code,
                });
                let effect = ActionType::info(instruction.action.kind()).effect;
                // What an earlier attempt did was done when that began, as far as anybody knows.
                let when = if found { sent } else { &at };
                evidence[if effect == Effect::Creates { "CREATED_AT" } else { "UPDATED_AT" }] = json!(when);
                let notes = if found {
                    "found done by an earlier attempt whose end was not recorded; it was not done again"
                } else {
                    "done by git in the repository of the project"
                };
                let notes = format!(
                    "{notes}; it was done in this clone and pushed nowhere: RESOURCE_URL is where it will be once it is pushed"
                );
                json!({
                    "status": "SUCCESS",
                    "platform_request": request,
                    "platform_response": {
                        "STATUS_CODE": code, "STATUS": "SUCCESS", "RESOURCE_URL": url,
                        "RESOURCE_ID": resource_id(&wanted.full), "RESOURCE_TYPE": noun, "TIMESTAMP_UTC": at,
                    },
                    "platform_evidence": evidence,
                    "resulting_state": format!("{noun} {short} is {state}"),
                    "completion_notes": notes,
                })
            }
            Err(Declined { status, error_type, code, message, remedy, retry, unknown, .. }) => without_nothing(json!({
                "status": status,
                "doubt": unknown.then_some("unknown"),
                "platform_request": request,
                "platform_response": {
                    "STATUS_CODE": code, "STATUS": status, "ERROR_MESSAGE": message, "ERROR_CODE": code.to_string(),
                    "TIMESTAMP_UTC": at,
                },
                "failure_details": {
                    "ERROR_TYPE": error_type, "ERROR_CODE": code.to_string(), "ERROR_MESSAGE": message,
                    "REMEDIATION_GUIDANCE": remedy, "RETRY_ALLOWED": if retry { "YES" } else { "NO" },
                },
                "resulting_state": match unknown {
                    true => format!("whether {noun} {short} was {} is not known", if creates { "made" } else { "deleted" }),
                    false => format!("nothing was done about {noun} {short}"),
                },
            })),
        }
    }
}

fn without_nothing(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    value
}

/// An id of at most as many letters as a name has.
fn resource_id(full: &str) -> String {
    full.chars().take(200).collect()
}
