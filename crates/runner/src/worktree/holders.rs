//! Whether some process has a hand in a folder: works there, or holds something open there.
//!
//! What an agent started is ended with it. One that had itself taken for somebody else's is not found by that; here it is
//! found by what it holds. In doubt there is one.

use std::path::Path;

/// A moment, in ticks since the machine began. Processes know theirs in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

/// Now. None where it cannot be told.
#[cfg(target_os = "linux")]
pub(super) fn now() -> Option<Moment> {
    // In seconds, with two places behind the point, which are ticks.
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = text.split_whitespace().next()?.split_once('.')?;
    Some(Moment(seconds.parse::<u64>().ok()? * 100 + hundredths.parse::<u64>().ok().filter(|it| *it < 100)?))
}

/// Whether it is certain that no process has a hand in a folder. Those that cannot be looked at are left out if they were
/// there before the moment when the folder was given to somebody.
#[cfg(target_os = "linux")]
pub(super) fn nobody_holds(folder: &Path, since: Moment) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let own = std::process::id();
    let mut numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.all(|number| {
        if number == own {
            return true;
        }
        let process = Path::new("/proc").join(number.to_string());
        let Some((began, holds_nothing)) = look(&process) else { return process.symlink_metadata().is_err() };
        match holds(&process, folder, began >= since) {
            Ok(holds) => !holds,
            // It is older, or can hold nothing, or has ended meanwhile; or there is doubt.
            Err(_) => began < since || holds_nothing || has_ended(&process),
        }
    })
}

/// Whether a process that was there has ended since. One that nobody has waited for yet is still listed, and holds nothing.
#[cfg(target_os = "linux")]
fn has_ended(process: &Path) -> bool {
    look(process).map_or_else(|| process.symlink_metadata().is_err(), |(_, holds_nothing)| holds_nothing)
}

/// When a process began, and whether it holds nothing because it has ended or is part of the kernel.
#[cfg(target_os = "linux")]
fn look(process: &Path) -> Option<(Moment, bool)> {
    const KERNEL: u64 = 0x0020_0000;
    let text = crate::proc::read(process.join("stat")).ok()?;
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The ninth and the 22nd of all; the third is the first behind the name.
    let (flags, began) = (fields.get(6)?.parse::<u64>().ok()?, fields.get(19)?.parse().ok()?);
    Some((Moment(began), flags & KERNEL != 0 || matches!(*fields.first()?, "Z" | "X")))
}

#[cfg(target_os = "linux")]
fn holds(process: &Path, folder: &Path, is_young: bool) -> std::io::Result<bool> {
    for link in ["cwd", "root"] {
        if std::fs::read_link(process.join(link))?.starts_with(folder) {
            return Ok(true);
        }
    }
    for open in std::fs::read_dir(process.join("fd"))? {
        // One that has been closed in the meantime is held no more.
        let Ok(target) = std::fs::read_link(open?.path()) else { continue };
        if target.starts_with(folder) {
            return Ok(true);
        }
    }
    if !is_young {
        return Ok(false);
    }
    let maps = crate::proc::read(process.join("maps"))?;
    Ok(memchr::memmem::find(&maps, folder.as_os_str().as_encoded_bytes()).is_some())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn now() -> Option<Moment> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn nobody_holds(_: &Path, _: Moment) -> bool {
    false
}
