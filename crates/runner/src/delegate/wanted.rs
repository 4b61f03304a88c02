//! What an instruction wants of a name in a git repository.

use super::Seen;
use super::asking::{self, Question};
use countersign_domain::delegation::action::Parameters;
use countersign_domain::delegation::parameters::TagType;
use countersign_domain::delegation::ref_name::{self, RefKind};

/// How long a name may be in all, so that files can have it wherever the repository is.
const NAME_BYTES_MAX: usize = 1000;
/// How long the name of a file may be, without `.lock`.
const PART_BYTES_MAX: usize = 250;

/// What is wanted of a name.
pub(super) struct Wanted {
    /// In full, such as `refs/heads/fix`.
    pub(super) full: String,
    /// As people write it.
    pub(super) short: String,
    pub(super) is_tag: bool,
    /// The commit that it is to be at; none, if it is to go.
    pub(super) target: Option<String>,
    /// The message of an annotated tag.
    pub(super) message: Option<String>,
}

impl Wanted {
    pub(super) fn of(parameters: &Parameters) -> Option<Self> {
        let wanted = |short: &str, is_tag: bool, target: Option<&str>| {
            let target = target.map(str::to_ascii_lowercase);
            let wanted = Self { full: String::new(), short: short.to_owned(), is_tag, target, message: None };
            Some(Self { full: format!("{}{short}", wanted.folder()), ..wanted })
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

    pub(super) fn noun(&self) -> &'static str {
        if self.is_tag { "tag" } else { "branch" }
    }

    /// What is said by whoever looked whether it is so.
    pub(super) fn seen(&self, holds: bool) -> Seen {
        let (noun, short) = (self.noun(), &self.short);
        let says = match (&self.target, holds) {
            (Some(target), true) => format!("{noun} {short} is at {target}"),
            (None, true) => format!("{noun} {short} is gone"),
            (_, false) => format!("{noun} {short} is not as it was asked for"),
        };
        Seen { holds, says }
    }

    /// Where such names are.
    pub(super) fn folder(&self) -> &'static str {
        if self.is_tag { "refs/tags/" } else { "refs/heads/" }
    }

    /// How git is to tell what a name is at.
    pub(super) fn format(&self) -> &'static str {
        match self.message {
            Some(_) => "--format=%(refname) %(objecttype) %(*objectname)",
            None => asking::FORMAT,
        }
    }

    /// Whether it is as it is wanted, by what git told in that way.
    pub(super) fn is_seen_in(&self, out: &[u8]) -> Result<bool, String> {
        let (Some(target), Some(_)) = (&self.target, &self.message) else {
            let names = asking::read_names(out)?;
            let there = names.into_iter().find(|(name, _)| *name == self.full);
            return Ok(there.map(|(_, value)| value) == self.target);
        };
        let line = format!("{} tag {target}", self.full);
        Ok(out.split(|byte| *byte == b'\n').any(|found| found == line.as_bytes()))
    }

    /// Why git does not take the name.
    pub(super) fn fault(&self) -> Option<String> {
        let kind = if self.is_tag { RefKind::Tag } else { RefKind::Branch };
        let fault = ref_name::fault(kind, &self.short).map(|fault| fault.to_string());
        fault.or_else(|| too_long(&self.short))
    }

    /// What is asked of git before it is made or deleted: the names that it could be in the way of, and the commit.
    pub(super) fn question(&self, address: bool) -> Question {
        let above = self.above().into_iter().filter(|_| self.target.is_some());
        let names = above.chain([self.full.as_str()]).map(str::to_owned).collect();
        Question { names, object: self.target.clone(), address }
    }

    /// The names that it would be inside of.
    pub(super) fn above(&self) -> Vec<&str> {
        self.full.match_indices('/').skip(2).map(|(at, _)| &self.full[..at]).collect()
    }

    /// Whether a name stands where this one is to be made: it itself, one that it would be inside of, or one inside of it,
    /// since git keeps them as files and folders. Only what has the very name can be deleted.
    pub(super) fn is_in_the_way(&self, name: &str) -> bool {
        let inside = || name.strip_prefix(&self.full).is_some_and(|rest| rest.starts_with('/'));
        name == self.full || self.target.is_some() && (self.above().contains(&name) || inside())
    }

    /// The field of the instruction that has the name.
    pub(super) fn field(&self) -> &'static str {
        if self.is_tag { "ACTION.PARAMETERS.TAG_NAME" } else { "ACTION.PARAMETERS.BRANCH_NAME" }
    }

    /// The field of the instruction that has the commit.
    pub(super) fn target_field(&self) -> &'static str {
        if self.is_tag { "ACTION.PARAMETERS.TARGET_SHA" } else { "ACTION.PARAMETERS.SOURCE_SHA" }
    }
}

/// What keeps a name from being kept in files, each with `.lock` behind it while it is changed.
fn too_long(name: &str) -> Option<String> {
    let part = name.split('/').map(str::len).max().unwrap_or(0);
    match (part > PART_BYTES_MAX, name.len() > NAME_BYTES_MAX) {
        (true, _) => Some(format!("has a part of {part} bytes, and git keeps at most {PART_BYTES_MAX} of one")),
        (_, true) => Some(format!("has {} bytes, and git is given at most {NAME_BYTES_MAX} here", name.len())),
        _ => None,
    }
}
