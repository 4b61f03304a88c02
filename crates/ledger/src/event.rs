//! Events: what is asked to be recorded, and what was.

use crate::canonical;
use crate::facts::Facts;
use crate::hash::Hash;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::sync::OnceLock;

/// How long a name in an envelope may be, in bytes.
pub const NAME_BYTES_MAX: usize = 512;
/// How long an event's canonical bytes may be. What is longer belongs into texts.
pub const EVENT_BYTES_MAX: usize = 1024 * 1024;
/// How many texts one event may bring.
pub const TEXTS_MAX: usize = 1024;
/// How long the texts of one event may be together. They are one line of an export, which must be readable again.
pub const TEXTS_BYTES_MAX: usize = 32 * 1024 * 1024;
/// A text longer than this is kept as a blob, outside of the tables.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Who asks for something to be recorded, and through which command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Who: an agent, a person, the system.
    pub actor: String,
    /// How it is known that it is they.
    pub authn: String,
    /// The command's name.
    pub name: String,
    /// What makes a repetition of this command the same command.
    pub once: Option<Once>,
    /// The lease that it is done under. A lease that is no longer held refuses the whole.
    pub under: Option<Held>,
}

/// An idempotency key and what it is bound to. It belongs to the actor and the command that used it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Once {
    /// The caller's key.
    pub key: String,
    /// The hash of the request; the same key with another one is refused.
    pub request: Hash,
    /// The code that the caller was answered with.
    pub code: String,
}

/// A lease by name and fencing number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// What is leased.
    pub name: String,
    /// The number that its grant gave.
    pub number: u64,
}

/// What an event does to a lease. Renewal is no event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseChange {
    /// Nobody else has it from here on; the event's sequence number is the fencing number.
    Grant {
        /// Who holds it.
        holder: String,
        /// What is leased.
        name: String,
        /// How long it lasts without a renewal, in milliseconds.
        ttl: i64,
    },
    /// Its holder has more or less time from here on, under the same number.
    Extend {
        /// What is leased.
        name: String,
        /// The number that its grant gave.
        number: u64,
        /// How long it lasts without a renewal, in milliseconds.
        ttl: i64,
    },
    /// Its holder gave it back.
    Release(Held),
    /// Its time ran out.
    Expire(Held),
}

/// A text that can be erased. The event holds its salted hash only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Random bytes, so that a short text cannot be guessed from its hash.
    pub salt: [u8; 16],
    /// What was said.
    pub body: Vec<u8>,
}

impl Text {
    /// The hash that the event holds.
    pub fn hash(&self) -> Hash {
        Hash::of_text(&self.salt, &self.body)
    }
}

/// An event that is asked to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its id, if the caller chooses one. It is looked up, and one that is there already refuses the command. Without it
    /// the ledger makes one, by time and chance.
    pub id: Option<String>,
    /// What happened.
    pub kind: String,
    /// The version of the kind's facts.
    pub v: u32,
    /// The id of the event that led to it.
    pub cause: Option<String>,
    /// The run it belongs to.
    pub run: Option<String>,
    /// The matter whose readers may see it.
    pub matter: String,
    /// Its data class.
    pub class: String,
    /// Its taint.
    pub taint: String,
    /// Ids, states, numbers, paths and hashes: an object in canonical JSON.
    pub facts: String,
    /// The same as it is read, if whoever asks has it at hand. Without it the text is read when somebody asks.
    pub read: Option<Value>,
    /// What can be erased.
    pub texts: Vec<Text>,
    /// What it does to a lease.
    pub lease: Option<LeaseChange>,
    /// The texts that it empties.
    pub erase: Vec<TextPlace>,
}

/// Which text: the event that brought it, and which of its texts.
pub type TextPlace = (u64, u32);

/// The part of an event that binds an idempotency key, on the first event of its command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding<'a> {
    /// The code that the caller was answered with.
    pub code: &'a str,
    /// How many events the command recorded, this one included.
    pub events: u64,
    /// The caller's key.
    pub key: &'a str,
    /// The hash of the request.
    pub request: Hash,
}

/// An event as it was recorded. The fields stand in the order of their names, which is the order of canonical JSON:
/// writing this type is writing RFC 8785.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event<'a> {
    /// Who.
    pub actor: &'a str,
    /// How that is known.
    pub authn: &'a str,
    /// The id of the event that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'a str>,
    /// The data class.
    pub class: &'a str,
    /// The command's name.
    pub command: &'a str,
    /// The texts that it empties.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erase: Vec<TextPlace>,
    /// The facts, in canonical JSON.
    #[serde(borrow)]
    pub facts: Facts<'a>,
    /// Its id.
    pub id: &'a str,
    /// What happened.
    pub kind: &'a str,
    /// What it does to a lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseChange>,
    /// The matter.
    pub matter: &'a str,
    /// The idempotency key that it binds.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub once: Option<Binding<'a>>,
    /// The hash of the event before it.
    pub prev: Hash,
    /// The project's id.
    pub project: &'a str,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<&'a str>,
    /// Its place in the log, from 1, without gaps.
    pub seq: u64,
    /// The taint.
    pub taint: &'a str,
    /// The salted hashes of its texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<Hash>,
    /// The store's clock when it was recorded.
    pub time: Time,
    /// The lease that it was recorded under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<Held>,
    /// The version of the kind's facts.
    pub v: u32,
    /// The facts as they were read, once somebody asked for them.
    #[serde(skip)]
    pub(crate) parsed: OnceLock<Option<Value>>,
}

impl<'a> Event<'a> {
    /// Reads an event from its stored bytes.
    pub fn read(body: &'a str) -> Result<Self, String> {
        serde_json::from_str(body).map_err(|error| error.to_string())
    }

    /// Its canonical bytes.
    pub fn write(&self) -> String {
        crate::written::event(self)
    }

    /// Whether these are its canonical bytes: the same as [`Event::write`] would write.
    pub(crate) fn is_written(&self, body: &str) -> bool {
        let mut rest = Rest(body.as_bytes());
        serde_json::to_writer(&mut rest, self).is_ok() && rest.0.is_empty()
    }

    /// The facts, read when they are first asked for; nothing, if they are nested too deeply.
    pub fn facts(&self) -> Option<&Value> {
        self.parsed.get_or_init(|| serde_json::from_str(self.facts.get()).ok()).as_ref()
    }
}

/// Bytes that are expected to be written.
struct Rest<'a>(&'a [u8]);

impl io::Write for Rest<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.strip_prefix(bytes).ok_or(io::ErrorKind::InvalidData)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How long the id of a project may be, in bytes.
const PROJECT_BYTES_MAX: usize = 64;

/// What is wrong with the id of a project, as a clause. It becomes part of the names of files and of keys, and may come
/// from somebody else's export: so it is letters, digits, hyphens and underscores, and nothing that leads anywhere.
pub fn project_fault(id: &str) -> Option<&'static str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if id.is_empty() || id.len() > PROJECT_BYTES_MAX {
        Some("it has between 1 and 64 characters")
    } else if !id.bytes().all(plain) {
        Some("it has letters, digits, hyphens and underscores only")
    } else {
        None
    }
}

/// Letters that change the direction of what is shown, and with it what a reader sees.
fn is_turning(letter: char) -> bool {
    matches!(letter, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// What is wrong with a name that is to stand in an envelope, as a clause. Names need no escaping in JSON, so that they
/// can be read in place.
pub fn name_fault(name: &str) -> Option<&'static str> {
    // Nearly all names are of such letters alone, and a dozen is looked at for every event.
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > NAME_BYTES_MAX {
        Some("it is longer than 512 bytes")
    } else if name.bytes().all(plain) {
        None
    } else if name.chars().any(|letter| letter.is_control() || is_turning(letter) || letter == '"' || letter == '\\') {
        Some("it has a quote, a backslash or a control character")
    } else {
        None
    }
}

impl Draft {
    /// What is wrong with it, as a clause.
    pub(crate) fn fault(&self) -> Option<String> {
        let names = [
            ("id", self.id.as_ref()),
            ("kind", Some(&self.kind)),
            ("cause", self.cause.as_ref()),
            ("run", self.run.as_ref()),
            ("matter", Some(&self.matter)),
            ("class", Some(&self.class)),
            ("taint", Some(&self.taint)),
        ];
        for (field, name) in names {
            if let Some(why) = name.and_then(|name| name_fault(name)) {
                return Some(format!("the {field} of an event cannot be recorded: {why}"));
            }
        }
        if !self.facts.starts_with('{') {
            return Some("the facts of an event are a JSON object".to_owned());
        }
        if let Some(at) = canonical::fault(&self.facts) {
            return Some(format!("the facts of `{}` are not canonical JSON at byte {at}", self.kind));
        }
        if self.facts.len() > EVENT_BYTES_MAX / 2 {
            return Some(format!(
                "the facts of `{}` have {} bytes; long text belongs into texts",
                self.kind,
                self.facts.len()
            ));
        }
        if self.texts.len() > TEXTS_MAX {
            return Some(format!("an event brings at most {TEXTS_MAX} texts"));
        }
        let said: usize = self.texts.iter().map(|text| text.body.len()).sum();
        if said > TEXTS_BYTES_MAX {
            return Some(format!(
                "the texts of `{}` have {said} bytes together, and an event brings at most {TEXTS_BYTES_MAX}; record them \
                 in parts",
                self.kind
            ));
        }
        match &self.lease {
            Some(LeaseChange::Grant { holder, name, ttl }) => {
                let fault = name_fault(holder).or(name_fault(name)).or((*ttl <= 0).then_some("it lasts no time"));
                fault.map(|why| format!("the lease cannot be granted: {why}"))
            }
            Some(LeaseChange::Extend { name, ttl, .. }) => {
                let fault = name_fault(name).or((*ttl <= 0).then_some("it lasts no time"));
                fault.map(|why| format!("the lease cannot be extended: {why}"))
            }
            Some(LeaseChange::Release(held) | LeaseChange::Expire(held)) => {
                name_fault(&held.name).map(|why| format!("the lease's name cannot be recorded: {why}"))
            }
            None => None,
        }
    }
}

impl Command {
    /// What is wrong with it, as a clause.
    pub(crate) fn fault(&self) -> Option<String> {
        let once = self.once.as_ref();
        let names = [
            ("actor", Some(&self.actor)),
            ("authn", Some(&self.authn)),
            ("command", Some(&self.name)),
            ("idempotency key", once.map(|it| &it.key)),
            ("code", once.map(|it| &it.code)),
            ("lease", self.under.as_ref().map(|it| &it.name)),
        ];
        let fault = |(field, name): (&str, Option<&String>)| {
            let why = name_fault(name?)?;
            Some(format!("the {field} cannot be recorded: {why}"))
        };
        names.into_iter().find_map(fault)
    }
}
