//! An audit entry as a file of the repository: Markdown with the entry as its front matter.
//!
//! Its number is counted by the ledger, and by the files that lie about. Two clones that have not seen each other's files count
//! alike, and git then has two entries for one path. Neither can be given another id: it stands in responses, in ledgers and under
//! the checksum. So both are kept: one where it belongs, the other under the same name in a folder that is called by the beginning
//! of its checksum.

use countersign_domain::delegation::payload::{AuditEntryId, checksum, date_in_id, number_in_id};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where entries lie, in a folder for each month.
const FOLDER: &str = ".evidence/platform-actions";

/// Writes an entry where it belongs, as a whole or not at all. One that is there already stays, if it is this one; if it
/// is another, nobody touches it.
pub fn write(root: &Path, entry: &Value) -> Result<PathBuf, String> {
    match lies(root, entry)? {
        Lies::At(path) => Ok(path),
        Lies::Nowhere(path) => put(root, path, entry),
        fault @ (Lies::Another(_) | Lies::Broken(_)) => {
            Err(format!("{}. Then delegate the same instruction again: nothing is done twice", fault.says(entry)))
        }
    }
}

/// Writes an entry beside another one that has its number.
pub fn write_aside(root: &Path, entry: &Value) -> Result<PathBuf, String> {
    let path = root.join(id_of(entry)?.path());
    put(root, aside(&path, entry), entry)
}

fn id_of(entry: &Value) -> Result<AuditEntryId, String> {
    let id = entry["AUDIT_ENTRY_ID"].as_str().and_then(AuditEntryId::parse);
    id.ok_or_else(|| "the audit entry has no id".to_owned())
}

/// Where an entry lies whose place another one has.
fn aside(path: &Path, entry: &Value) -> PathBuf {
    let (folder, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
    folder.join(&checksum(entry.clone())[..8]).join(name)
}

/// How an entry of the ledger lies in the repository.
#[derive(Debug, PartialEq, Eq)]
pub enum Lies {
    /// It is there.
    At(PathBuf),
    /// It is not, and its place is free.
    Nowhere(PathBuf),
    /// Its place has another entry, as whole as this one: two copies of the repository counted alike.
    Another(PathBuf),
    /// Its place has something that is no whole entry: it was changed, or a merge stopped in the middle of it.
    Broken(PathBuf),
}

impl Lies {
    /// What is wrong, and what to do, as a sentence without its full stop.
    pub fn says(&self, entry: &Value) -> String {
        match self {
            Self::At(path) | Self::Nowhere(path) => format!("nothing is wrong with {}", path.display()),
            Self::Another(path) => format!(
                "{} is not the audit entry that the ledger has: another copy of the repository gave the same number to \
                 something else. Both are records, so remove neither: `countersign doctor --fix` writes this one to {}; commit \
                 both",
                path.display(),
                aside(path, entry).display()
            ),
            Self::Broken(path) => format!(
                "{} is not the audit entry that the ledger has: it was changed, or a merge stopped in the middle of it. It is a \
                 record, so do not remove it: a person restores it from the history of the repository, or keeps one side of the \
                 merge as a whole; if that is the other's, `countersign doctor --fix` keeps this one beside it",
                path.display()
            ),
        }
    }
}

/// How an entry of the ledger lies in the repository. What may be added to an entry later is not looked at, and neither is the
/// text below.
pub fn lies(root: &Path, entry: &Value) -> Result<Lies, String> {
    let path = root.join(id_of(entry)?.path());
    let Some(kept) = read(&path)? else { return Ok(Lies::Nowhere(path)) };
    let beside = aside(&path, entry);
    let is_this = |kept: &Value| checksum(kept.clone()) == checksum(entry.clone());
    let is_whole = |kept: &Value| kept.pointer("/INTEGRITY/CHECKSUM") == Some(&checksum(kept.clone()).into());
    Ok(match kept {
        Some(kept) if is_this(&kept) => Lies::At(path),
        _ if read(&beside)?.flatten().is_some_and(|kept| is_this(&kept)) => Lies::At(beside),
        Some(kept) if is_whole(&kept) => Lies::Another(path),
        _ => Lies::Broken(path),
    })
}

/// What a file has as its front matter, if it is there, and if that can be read.
fn read(path: &Path) -> Result<Option<Option<Value>>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    let form = countersign_contract::Form::Markdown;
    let kept = countersign_contract::parse(&text, form, countersign_contract::SIZE_MAX).ok();
    Ok(Some(kept.map(|document| document.root().to_value())))
}

fn put(root: &Path, path: PathBuf, entry: &Value) -> Result<PathBuf, String> {
    let said = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    let folder = path.parent().unwrap_or(root);
    must_be_inside(root, folder).map_err(|why| format!("{why}; the entry was not written"))?;
    std::fs::create_dir_all(folder).map_err(said)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(said)?;
    file.write_all(markdown(entry).as_bytes()).map_err(said)?;
    readable(file.as_file()).map_err(said)?;
    file.as_file().sync_all().map_err(said)?;
    match file.persist_noclobber(&path) {
        Ok(_) => {}
        Err(unput) if unput.error.kind() == std::io::ErrorKind::AlreadyExists => {
            // Somebody else writes the same instruction's entry.
            match lies(root, entry)? {
                Lies::At(_) | Lies::Nowhere(_) => {}
                fault => return Err(fault.says(entry)),
            }
        }
        Err(unput) => return Err(said(unput.error)),
    }
    // The name is safe only once the folder is; not every file system lets a folder be synced.
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(path)
}

/// Makes sure that an entry of a day will have its place, before anything is done that must have one.
pub(super) fn must_have_a_place(root: &Path, time: &str) -> Result<(), String> {
    let Some(folder) = folder_of(root, time) else { return Ok(()) };
    must_be_inside(root, &folder)
        .map_err(|why| format!("{why}; nothing was done, since its audit entry would have no place"))
}

/// Refuses a folder that leads out of the project through a link, or is none, as far as it is there.
fn must_be_inside(root: &Path, folder: &Path) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{} cannot be written to: {error}", folder.display());
    // A link to nothing is there, too, and leads where nobody knows.
    let there = folder.ancestors().find(|it| it.symlink_metadata().is_ok()).unwrap_or(root);
    if !there.canonicalize().map_err(said)?.starts_with(root.canonicalize().map_err(said)?) {
        return Err(format!("{} leads out of the project through a link", folder.display()));
    }
    if !there.is_dir() {
        return Err(format!("{} is no folder", there.display()));
    }
    Ok(())
}

/// The folder of the entries of a day.
fn folder_of(root: &Path, time: &str) -> Option<PathBuf> {
    let path = AuditEntryId::parse(&format!("PAA-{}-001", time.get(..10)?))?.path();
    Some(root.join(path).parent()?.to_owned())
}

/// The first day of which entries lie in the repository.
pub fn first_day(root: &Path) -> Option<String> {
    let months = std::fs::read_dir(root.join(FOLDER)).ok()?.flatten();
    let files = months.filter_map(|month| std::fs::read_dir(month.path()).ok()).flatten().flatten();
    let ids = files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".md")?.to_owned()));
    ids.filter(|id| AuditEntryId::parse(id).is_some()).map(|id| date_in_id(&id).to_owned()).min()
}

/// The last entry of a day that lies in the repository, whichever ledger has it. None, if there is none.
pub(super) fn last_of(root: &Path, time: &str) -> Option<String> {
    let day = time.get(..10)?;
    let files = std::fs::read_dir(folder_of(root, time)?)
        .ok()?
        .flatten()
        .filter(|it| it.file_type().is_ok_and(|kind| kind.is_file()));
    let names = files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".md")?.to_owned()));
    let ids = names.filter(|name| AuditEntryId::parse(name).is_some() && date_in_id(name) == day);
    ids.max_by_key(|id| number_in_id(id))
}

/// A file for others to read, as a commit will have it; temporary files are for their maker alone.
#[cfg(unix)]
fn readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

/// The entry as front matter, and what it says in words.
fn markdown(entry: &Value) -> String {
    let text = |pointer: &str| {
        let value = entry.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
        countersign_contract::show(value)
    };
    let mut out = String::from("---\n");
    // JSON is YAML; each member stands on a line of its own, so that a difference can be read.
    for (key, value) in entry.as_object().into_iter().flatten() {
        out.push_str(&format!("{key}: {value}\n"));
    }
    out.push_str("---\n\n");
    out.push_str(&format!("# {}\n\n", text("/AUDIT_ENTRY_ID")));
    out.push_str("| | |\n|---|---|\n");
    let rows = [
        ("action", text("/ACTION/TYPE")),
        ("repository", text("/REQUESTER/REPOSITORY")),
        ("instruction", text("/ACTION/INSTRUCTION_ID")),
        ("response", text("/ACTION/RESPONSE_ID")),
        ("success", text("/OUTCOME/SUCCESS")),
        ("state", text("/OUTCOME/RESULTING_STATE")),
        ("written", text("/TIMESTAMP_UTC")),
    ];
    for (name, value) in rows {
        out.push_str(&format!("| {name} | {} |\n", value.replace('|', "\\|")));
    }
    out
}
