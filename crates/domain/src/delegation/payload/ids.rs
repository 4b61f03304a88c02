//! The ids of delegation, each of which carries the day it was given out, and the name of a repository.

use countersign_contract::{Timestamp, pattern};

/// Declares an id: its prefix, the day, and a number of at least three digits.
macro_rules! dated_id {
    ($(#[doc = $doc:literal])* $Name:ident, $prefix:literal) => {
        pattern! {
            $(#[doc = $doc])*
            pub struct $Name {
                pattern: concat!(
                    "^",
                    $prefix,
                    "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])-([0-9]{3}|[1-9][0-9]{3,8})$"
                ),
                example: concat!($prefix, "2025-12-25-001"),
                says: concat!("an id such as ", $prefix, "2025-12-25-001"),
                test: |text| is_dated_id(text, $prefix),
            }
        }
    };
}

dated_id! {
    /// An instruction: `DI-`, the day, and a number of at least three digits.
    InstructionId, "DI-"
}

dated_id! {
    /// A response: `DR-`, the day, and a number of at least three digits.
    ResponseId, "DR-"
}

dated_id! {
    /// An audit entry: `PAA-`, the day, and a number of at least three digits.
    AuditEntryId, "PAA-"
}

pattern! {
    /// A repository by its owner and its name.
    pub struct Repository {
        pattern: r"^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]*[A-Za-z0-9_-][A-Za-z0-9._-]*$",
        example: "acme/shop",
        says: "a repository as owner/name, such as acme/shop",
        test: is_repository,
    }
}

impl AuditEntryId {
    /// Where the entry is kept in the repository.
    pub fn path(&self) -> String {
        format!("{}/{self}.md", self.folder())
    }

    fn folder(&self) -> String {
        let month = date_in_id(self.as_str()).get(..7).unwrap_or_default();
        format!(".evidence/platform-actions/{month}")
    }

    /// Whether this is where the entry is kept. Makes no copy.
    pub fn is_at(&self, path: &str) -> bool {
        let month = date_in_id(self.as_str()).get(..7).unwrap_or_default();
        let rest = path.strip_prefix(".evidence/platform-actions/").and_then(|rest| rest.strip_prefix(month));
        let rest = rest.and_then(|rest| rest.strip_prefix('/')).and_then(|rest| rest.strip_suffix(".md"));
        rest == Some(self.as_str())
    }
}

impl Repository {
    /// Who owns it.
    pub fn owner(&self) -> &str {
        self.as_str().split_once('/').map_or("", |(owner, _)| owner)
    }

    /// What it is called there.
    pub fn name(&self) -> &str {
        self.as_str().split_once('/').map_or("", |(_, name)| name)
    }

    /// Whether it is the one of this owner and name, which platforms take in any case.
    pub fn is(&self, owner: &str, name: &str) -> bool {
        owner.eq_ignore_ascii_case(self.owner()) && name.eq_ignore_ascii_case(self.name())
    }
}

/// The day in an id, as written: `2025-12-25`. Days in this form are in order when their texts are.
pub fn date_in_id(id: &str) -> &str {
    id.split_once('-').and_then(|(_, rest)| rest.get(..10)).unwrap_or_default()
}

/// The number in an id.
pub fn number_in_id(id: &str) -> Option<u64> {
    id.rsplit_once('-').and_then(|(_, number)| number.parse().ok())
}

/// The day of a time, in UTC, as written.
pub fn date_of_time(time: &Timestamp) -> &str {
    time.as_str().get(..10).unwrap_or_default()
}

/// Whether the calendar has this day.
pub fn is_real_date(date: &str) -> bool {
    date.parse::<jiff::civil::Date>().is_ok()
}

/// The pattern knows that no month has 32 days; which have 31 is for a rule to say.
fn is_dated_id(text: &str, prefix: &str) -> bool {
    let Some(rest) = text.strip_prefix(prefix) else { return false };
    let Some((date, number)) = rest.split_at_checked(10) else { return false };
    let form = date.bytes().zip(b"0000-00-00").all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        mark => byte == *mark,
    });
    let within = |part: Option<&str>, top: &str| part.is_some_and(|part| part != "00" && part <= top);
    let Some(number) = number.strip_prefix('-') else { return false };
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let length = number.len() == 3 || ((4..=9).contains(&number.len()) && !number.starts_with('0'));
    form && within(date.get(5..7), "12") && within(date.get(8..10), "31") && digits && length
}

fn is_repository(text: &str) -> bool {
    let Some((owner, name)) = text.split_once('/') else { return false };
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let owned = owner.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()) && owner.bytes().all(word);
    owned && name.bytes().all(|byte| word(byte) || byte == b'.') && name.bytes().any(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_an_entry_follows_from_its_id() {
        let id = AuditEntryId::parse("PAA-2025-12-25-001").unwrap_or_else(|| unreachable!());
        assert_eq!(id.path(), ".evidence/platform-actions/2025-12/PAA-2025-12-25-001.md");
        assert!(id.is_at(&id.path()));
        assert!(!id.is_at(".evidence/platform-actions/2025-11/PAA-2025-12-25-001.md"));
        assert!(!id.is_at(".evidence/platform-actions/2025-12/PAA-2025-12-25-002.md"));
    }

    #[test]
    fn an_id_is_its_prefix_a_day_and_a_number() {
        let cases = [
            ("DI-2025-12-25-001", true),
            ("DI-2025-12-25-1000", true),
            ("DI-2025-02-31-001", true),
            ("DI-2025-12-25-01", false),
            ("DI-2025-12-25-0001", false),
            ("DI-2025-13-25-001", false),
            ("DI-2025-00-25-001", false),
            ("DI-2025-12-32-001", false),
            ("DI-2025-12-00-001", false),
            ("DI-2025-1-25-0001", false),
            ("DR-2025-12-25-001", false),
            ("DI-2025-12-25-001 ", false),
        ];
        for (text, good) in cases {
            assert_eq!(InstructionId::parse(text).is_some(), good, "{text}");
        }
    }
}
