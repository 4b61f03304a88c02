//! Branches and tags in the project's own repository.
//!
//! | action | done by | done already, if |
//! |---|---|---|
//! | `CREATE_BRANCH` | `update-ref REF SHA 0…0` | the branch is at that commit |
//! | `CREATE_TAG` | `mktag` if it is annotated, `update-ref REF OBJECT 0…0` | the tag is at that commit, and of that kind |
//! | `DELETE_BRANCH`, `DELETE_TAG` | `update-ref -d REF OLD` | it is not there |
//!
//! The old value is given each time, so that nothing is overwritten that somebody else made meanwhile; and what is there
//! afterwards decides what came of it, not what git said. Of what is deleted it is the value from before the first attempt:
//! a name that is at another by then may be somebody else's, and nobody deletes it. Git knows no HTTP: 201, 204, 409, 422 and
//! 500 stand for what GitHub would have answered.
//!
//! What is done is done in this clone, and pushed nowhere: the answer says so.

use super::{Attempt, Executor, Obstacle, Seen, now, said};
use crate::worktree::Identity;
use crate::worktree::call::{Fault, Git, is_commit, object};
use countersign_domain::delegation::action::{ActionType, Effect, Parameters};
use countersign_domain::delegation::command::ExecutorKind;
use countersign_domain::delegation::parameters::TagType;
use countersign_domain::delegation::payload::DelegationInstruction;
use countersign_domain::delegation::ref_name::{self, RefKind};
use serde_json::{Value, json};
use std::path::PathBuf;

/// How long it may act: a handful of calls, each of which ends in time by itself.
const SECONDS: u32 = 1800;
/// How much is told of what git says.
const SAID_MAX: usize = 1000;
/// What a name is at that is not there.
const NOTHING: &str = "0000000000000000000000000000000000000000";
/// Where resources are said to be, if the repository has no address.
const NOWHERE: &str = "localhost";

/// Acts on the repository that a folder belongs to.
#[derive(Clone, Debug)]
pub struct GitExecutor {
    /// The folder.
    pub folder: PathBuf,
    /// Who makes annotated tags.
    pub identity: Identity,
}

/// What is wanted of a name.
struct Wanted {
    /// In full, such as `refs/heads/fix`.
    full: String,
    /// As people write it.
    short: String,
    is_tag: bool,
    /// The commit that it is to be at; none, if it is to go.
    target: Option<String>,
    /// The message of an annotated tag.
    message: Option<String>,
}

impl Wanted {
    fn of(parameters: &Parameters) -> Option<Self> {
        let wanted = |short: &str, is_tag: bool, target: Option<&str>| {
            let full = format!("refs/{}/{short}", if is_tag { "tags" } else { "heads" });
            let target = target.map(str::to_ascii_lowercase);
            Some(Self { full, short: short.to_owned(), is_tag, target, message: None })
        };
        match parameters {
            Parameters::CreateBranch(it) => wanted(it.branch_name.as_str(), false, Some(it.source_sha.as_str())),
            Parameters::DeleteBranch(it) => wanted(it.branch_name.as_str(), false, None),
            Parameters::CreateTag(it) => {
                let message = it.message.as_ref().map(|text| text.inspect(str::to_owned)).unwrap_or_default();
                let message = (it.tag_type == TagType::Annotated).then_some(message);
                Some(Self { message, ..wanted(it.tag_name.as_str(), true, Some(it.target_sha.as_str()))? })
            }
            Parameters::DeleteTag(it) => wanted(it.tag_name.as_str(), true, None),
            _ => None,
        }
    }

    fn noun(&self) -> &'static str {
        if self.is_tag { "tag" } else { "branch" }
    }
}

/// Why something was not done.
struct Declined {
    status: &'static str,
    error_type: &'static str,
    code: u16,
    message: String,
    remedy: &'static str,
    retry: bool,
    /// Whether it may have been done all the same.
    unknown: bool,
}

impl Declined {
    /// An earlier attempt may have deleted it, and what is there now is not what was there then.
    fn left(noun: &str, short: &str) -> Self {
        let message = format!(
            "whether it was done is not known: an earlier attempt that did not end may have deleted {noun} {short}, and what \
             is there now is not known to be what was there before; it was not deleted now"
        );
        let remedy = "a person must look whose it is; if it is to go, give it again under a new instruction id";
        Self { error_type: "API_ERROR", code: 409, unknown: true, ..Self::invalid(message, remedy) }
    }

    fn invalid(message: String, remedy: &'static str) -> Self {
        Self {
            status: "FAILURE",
            error_type: "VALIDATION_FAILURE",
            code: 422,
            message,
            remedy,
            retry: false,
            unknown: false,
        }
    }
}

impl GitExecutor {
    fn git(&self) -> Git<'_> {
        Git::at(&self.folder)
    }

    /// What a name is at, and whether that is a tag's own object.
    fn value(&self, full: &str) -> Result<Option<String>, String> {
        let out = self.git().run(&["for-each-ref", "--format=%(refname) %(objectname)", full], b"")?;
        let out = String::from_utf8_lossy(&out).into_owned();
        // Names below it are listed too.
        let line = out.lines().find_map(|line| line.split_once(' ').filter(|(name, _)| *name == full));
        match line {
            None => Ok(None),
            Some((_, value)) if is_commit(value) => Ok(Some(value.to_owned())),
            Some(_) => Err(format!("git says of {full} what is no name of an object")),
        }
    }

    /// What a name is at, and whether a commit is there: asked at once.
    fn value_and_commit(&self, full: &str, commit: &str) -> Result<(Option<String>, bool), String> {
        let asked = format!("{full}\n{commit}\n");
        let out = self.git().run(&["cat-file", "--batch-check=%(objectname) %(objecttype)"], asked.as_bytes())?;
        let out = String::from_utf8_lossy(&out).into_owned();
        let mut lines = out.lines().map(|line| line.split_once(' ').unwrap_or((line, "")));
        let (Some((value, kind)), Some((_, of_commit))) = (lines.next(), lines.next()) else {
            return Err(format!("git does not say what {full} is at"));
        };
        let value = (kind != "missing").then(|| value.to_owned());
        if value.as_deref().is_some_and(|value| !is_commit(value)) {
            return Err(format!("git says of {full} what is no name of an object"));
        }
        Ok((value, of_commit == "commit"))
    }

    /// The kind of an object. None, if it is not there.
    fn kind_of(&self, name: &str) -> Option<String> {
        let out = self.git().run(&["cat-file", "-t", name], b"").ok()?;
        Some(String::from_utf8_lossy(&out).trim().to_owned())
    }

    /// Whether a name is as it is wanted.
    fn is_done(&self, wanted: &Wanted) -> Result<bool, String> {
        let value = self.value(&wanted.full)?;
        let (Some(value), Some(target)) = (&value, &wanted.target) else {
            return Ok(value.is_none() && wanted.target.is_none());
        };
        if wanted.message.is_none() {
            return Ok(value == target);
        }
        let annotated = self.kind_of(value).as_deref() == Some("tag");
        let peeled = self.git().run(&["rev-parse", "--verify", "--end-of-options", &format!("{value}^{{}}")], b"");
        Ok(annotated && peeled.ok().and_then(|out| object(&out).ok()).as_ref() == Some(target))
    }

    /// What stands against it, as far as can be seen now.
    fn declined(&self, wanted: &Wanted) -> Result<Option<Declined>, String> {
        let (noun, short) = (wanted.noun(), &wanted.short);
        let (there, has_commit) = match &wanted.target {
            Some(target) => self.value_and_commit(&wanted.full, target)?,
            None => (self.value(&wanted.full)?, false),
        };
        Ok(match (&wanted.target, there) {
            (Some(_), Some(value)) => {
                let message = format!("{noun} {short} is there already, at {value}");
                Some(Declined::invalid(message, "choose another name, or delete that one first"))
            }
            (Some(target), None) if !has_commit => {
                let message = format!("the repository has no commit {target}");
                Some(Declined::invalid(message, "name a commit that the repository has; it may have to be fetched"))
            }
            (None, None) => {
                let message = format!("there is no {noun} {short}");
                Some(Declined::invalid(message, "name one that is there"))
            }
            (None, Some(_)) if !wanted.is_tag && self.is_checked_out(&wanted.full)? => Some(Declined {
                status: "BLOCKED",
                error_type: "PLATFORM_CONSTRAINT",
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

    /// Does it. What git says is kept; what came of it is looked at afterwards.
    fn attempt(&self, wanted: &Wanted, by: &str, before: Option<&str>) -> Result<(), String> {
        let git = self.git();
        let reason = format!("countersign: {by}");
        let Some(target) = &wanted.target else {
            let old = before.ok_or("what it was at before is not known")?;
            git.run(&["update-ref", "-m", &reason, "--no-deref", "-d", &wanted.full, old], b"")?;
            return Ok(());
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
        git.run(&["update-ref", "-m", &reason, "--no-deref", &wanted.full, &value, NOTHING], b"")?;
        Ok(())
    }

    /// Host, owner and name of the repository, by its address; nothing, if it has none that tells them.
    ///
    /// # Errors
    /// There is no repository.
    fn address(&self) -> Result<Option<(String, String)>, Fault> {
        // Asked of the repository's own settings, git says whether there is one.
        match self.git().run(&["config", "--local", "--includes", "--get", "remote.origin.url"], b"") {
            Ok(out) => Ok(parse_address(String::from_utf8_lossy(&out).trim())),
            Err(Fault { code: Some(1), .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
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

    fn obstacles(&self, instruction: &DelegationInstruction, _: bool) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        let action = instruction.action.kind();
        match Wanted::of(&instruction.action.parameters) {
            None => obstacles.push(Obstacle {
                field: "ACTION.TYPE",
                error: format!("git cannot carry out {action}"),
                expected: "CREATE_BRANCH, DELETE_BRANCH, CREATE_TAG or DELETE_TAG, or another executor".to_owned(),
            }),
            Some(wanted) => {
                let kind = if wanted.is_tag { RefKind::Tag } else { RefKind::Branch };
                if let Some(fault) = ref_name::fault(kind, &wanted.short) {
                    let field =
                        if wanted.is_tag { "ACTION.PARAMETERS.TAG_NAME" } else { "ACTION.PARAMETERS.BRANCH_NAME" };
                    let expected = "a name that git takes".to_owned();
                    obstacles.push(Obstacle { field, error: format!("the name {fault}"), expected });
                }
            }
        }
        let field = "REQUESTER.REPOSITORY";
        match self.address() {
            Err(_) => {
                let error = "there is no git repository in the project".to_owned();
                obstacles.push(Obstacle { field, error, expected: "a project in a git repository".to_owned() });
            }
            Ok(Some((_, path))) if !path.eq_ignore_ascii_case(instruction.requester.repository.as_str()) => {
                let error = format!("the repository here is {}", countersign_contract::show(&path));
                obstacles.push(Obstacle { field, error, expected: "the repository that the project is in".to_owned() });
            }
            Ok(_) => {}
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
            return Ok(self.acted(instruction, &wanted, &sent, Ok(true)));
        }
        if attempt.again && wanted.target.is_none() && self.value(&wanted.full)?.as_deref() != attempt.before {
            let left = Declined::left(wanted.noun(), &wanted.short);
            return Ok(self.acted(instruction, &wanted, &sent, Err(left)));
        }
        if let Some(declined) = self.declined(&wanted)? {
            return Ok(self.acted(instruction, &wanted, &sent, Err(declined)));
        }
        let said = self.attempt(&wanted, instruction.instruction_id.as_str(), attempt.before);
        if self.is_done(&wanted)? {
            return Ok(self.acted(instruction, &wanted, &sent, Ok(false)));
        }
        // Somebody may have been faster, which explains it best.
        let declined = self.declined(&wanted)?.unwrap_or_else(|| Declined {
            status: "FAILURE",
            error_type: "API_ERROR",
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

    fn verify(&self, instruction: &DelegationInstruction, _: &Value) -> Result<Seen, String> {
        let kind = instruction.action.kind();
        let wanted = Wanted::of(&instruction.action.parameters).ok_or_else(|| format!("git cannot see {kind}"))?;
        let (noun, short, holds) = (wanted.noun(), &wanted.short, self.is_done(&wanted)?);
        let says = match (&wanted.target, holds) {
            (Some(target), true) => format!("{noun} {short} is at {target}"),
            (None, true) => format!("{noun} {short} is gone"),
            (_, false) => format!("{noun} {short} is not as it was asked for"),
        };
        Ok(Seen { holds, says })
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
                evidence[if effect == Effect::Creates { "CREATED_AT" } else { "UPDATED_AT" }] = json!(at);
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
            Err(Declined { status, error_type, code, message, remedy, retry, unknown }) => without_nothing(json!({
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
                    true => format!("whether {noun} {short} was deleted is not known"),
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

/// A name as a part of an address.
fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Host and path of a repository's address. None, if it is a folder or cannot be told.
fn parse_address(url: &str) -> Option<(String, String)> {
    let (authority, path) = match url.split_once("://") {
        Some(("http" | "https" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        // As scp writes it; a colon after a slash is part of a folder's name.
        None => url.split_once(':').filter(|(host, path)| !host.contains('/') && !path.starts_with('\\'))?,
    };
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let path = path.trim_matches('/').trim_end_matches(".git");
    let fits = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    let fits = fits && host.len() > 1 && host.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    (fits && path.split('/').count() == 2).then(|| (host.to_owned(), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_told_by_its_address() {
        let cases = [
            ("https://github.com/acme/shop.git", Some(("github.com", "acme/shop"))),
            ("https://user:word@git.acme.example:8443/acme/shop", Some(("git.acme.example", "acme/shop"))),
            ("ssh://git@github.com/acme/shop.git", Some(("github.com", "acme/shop"))),
            ("git@github.com:acme/shop.git", Some(("github.com", "acme/shop"))),
            ("/srv/git/shop.git", None),
            ("../shop", None),
            ("C:\\shop", None),
            ("file:///srv/git/shop", None),
            ("https://github.com/group/sub/shop", None),
            ("", None),
        ];
        for (url, wanted) in cases {
            let wanted = wanted.map(|(host, path)| (host.to_owned(), path.to_owned()));
            assert_eq!(parse_address(url), wanted, "{url}");
        }
    }

    #[test]
    fn a_name_becomes_part_of_an_address() {
        assert_eq!(escaped("fix/größe"), "fix/gr%C3%B6%C3%9Fe");
        assert_eq!(escaped("a#b%"), "a%23b%25");
    }
}
