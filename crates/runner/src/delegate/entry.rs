//! An audit entry as a file of the repository: Markdown with the entry as its front matter.

use countersign_domain::delegation::payload::{AuditEntryId, checksum, date_in_id, number_in_id};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes an entry where it belongs, as a whole or not at all. One that is there already stays, if it is this one; if it
/// is another, nobody touches it.
pub fn write(root: &Path, entry: &Value) -> Result<PathBuf, String> {
    let id = entry["AUDIT_ENTRY_ID"].as_str().and_then(AuditEntryId::parse).ok_or("the audit entry has no id")?;
    let path = root.join(id.path());
    let said = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    let folder = path.parent().unwrap_or(root);
    std::fs::create_dir_all(folder).map_err(said)?;
    let inside = folder.canonicalize().and_then(|folder| Ok(folder.starts_with(root.canonicalize()?))).map_err(said)?;
    if !inside {
        return Err(format!("{} leads out of the project through a link; the entry was not written", folder.display()));
    }
    if is_there(&path, entry)? {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(said)?;
    file.write_all(markdown(entry).as_bytes()).map_err(said)?;
    readable(file.as_file()).map_err(said)?;
    file.as_file().sync_all().map_err(said)?;
    match file.persist_noclobber(&path) {
        Ok(_) => {}
        Err(unput) if unput.error.kind() == std::io::ErrorKind::AlreadyExists => {
            // Somebody else writes the same instruction's entry.
            is_there(&path, entry)?;
        }
        Err(unput) => return Err(said(unput.error)),
    }
    // The name is safe only once the folder is; not every file system lets a folder be synced.
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(path)
}

/// The last entry of a day that lies in the repository, whichever ledger has it. None, if there is none.
pub(super) fn last_of(root: &Path, time: &str) -> Option<String> {
    let day = time.get(..10)?;
    let folder = AuditEntryId::parse(&format!("PAA-{day}-001"))?.path();
    let folder = root.join(folder).parent()?.to_owned();
    let files = std::fs::read_dir(folder).ok()?.flatten().filter(|it| it.file_type().is_ok_and(|kind| kind.is_file()));
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

/// Whether the file has this entry. What may be added to an entry later is not looked at, and neither is the text below.
fn is_there(path: &Path, entry: &Value) -> Result<bool, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    let form = countersign_contract::Form::Markdown;
    let kept = countersign_contract::parse(&text, form, countersign_contract::SIZE_MAX).ok();
    let kept = kept.map(|document| document.root().to_value());
    match kept {
        Some(kept) if checksum(kept.clone()) == checksum(entry.clone()) => Ok(true),
        _ => Err(format!(
            "{} is not the audit entry that the ledger has: it was changed, or another copy of the repository wrote it. \
             It is a record, so do not remove it: a person restores it from the history of the repository, or settles \
             whose it is. Then delegate the same instruction again: nothing is done twice",
            path.display()
        )),
    }
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
