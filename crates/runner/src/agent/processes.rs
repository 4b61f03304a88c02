//! The processes of an attempt, as `/proc` shows them.

use super::environment::ATTEMPT;
use std::collections::BTreeSet;
use std::path::Path;

/// One process, at the moment when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    parent: u32,
    group: u32,
    /// When it began, in ticks since the machine did. With the number it tells one process from all others.
    pub(super) since: u64,
    /// Whether it has ended and only waits for its parent to notice.
    is_over: bool,
}

/// The name of this run of the machine. None where it has none.
pub(super) fn boot() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A process by its number.
pub(super) fn process(pid: u32) -> Option<Process> {
    let text = crate::proc::read(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses too; all that counts is behind it.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    // The 22nd field of all.
    let since = fields.nth(16)?.parse().ok()?;
    Some(Process { pid, parent, group, since, is_over: matches!(state, "Z" | "X") })
}

/// What is known of an attempt whose processes are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family<'a> {
    /// The first process; its number is also that of the group.
    pub(super) leader: u32,
    /// When it began. Nothing that is older can descend from it.
    pub(super) since: u64,
    /// The mark in the environment.
    pub(super) attempt: &'a str,
    /// Whether the number of the group is known to be still that of this attempt, because we have not let go of it.
    pub(super) is_held: bool,
}

/// Everything that lives and belongs to an attempt: its group, what carries its mark, and what descends from either.
/// None where there is no `/proc`.
pub(super) fn members(family: &Family) -> Option<Vec<Process>> {
    let own = std::process::id();
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()? {
        let Some(pid) = entry.ok().and_then(|entry| entry.file_name().to_str()?.parse().ok()) else { continue };
        all.extend(process(pid).filter(|it| it.since >= family.since && it.pid != own));
    }
    // The leader's name and group are read from this machine or not at all.
    if all.is_empty() && !Path::new("/proc/self/stat").exists() {
        return None;
    }
    let leader = all.iter().find(|it| it.pid == family.leader);
    let marked: BTreeSet<u32> = all.iter().filter(|it| is_marked(it.pid, family.attempt)).map(|it| it.pid).collect();
    // The number of a group is free again only when the group is empty. So it is ours while its first process is, or
    // while one of its members carries our mark; else it may belong to somebody else by now.
    let is_ours = family.is_held
        || leader.is_some_and(|leader| leader.since == family.since)
        || all.iter().any(|it| it.group == family.leader && marked.contains(&it.pid));
    let mut found: BTreeSet<u32> =
        all.iter().filter(|it| is_ours && it.group == family.leader).map(|it| it.pid).collect();
    found.extend(&marked);
    if leader.is_some_and(|leader| leader.since == family.since) {
        found.insert(family.leader);
    }
    while let Some(child) = all.iter().find(|it| found.contains(&it.parent) && !found.contains(&it.pid)) {
        found.insert(child.pid);
    }
    Some(all.into_iter().filter(|it| found.contains(&it.pid) && !it.is_over).collect())
}

/// The marks that begin so and that some process carries.
pub(super) fn marks(beginning: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(mark_of).filter(|mark| mark.starts_with(beginning)).collect()
}

fn is_marked(pid: u32, attempt: &str) -> bool {
    mark_of(pid).is_some_and(|mark| mark == attempt)
}

/// The mark in the environment that a process was started with.
fn mark_of(pid: u32) -> Option<String> {
    let environment = crate::proc::read(format!("/proc/{pid}/environ")).ok()?;
    let mut entries = environment.split(|byte| *byte == 0);
    let mark = entries.find_map(|entry| entry.strip_prefix(ATTEMPT.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(mark.to_vec()).ok()
}
