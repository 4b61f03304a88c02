//! A file, and what it must be.
//!
//! It is opened once, beneath the checkout; size, hash and content are of what was read then.

use super::beneath::{self, Found};
use super::{Evidence, FileSeen, Status};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Form, Text, canonical, inexact_as_texts, parse, sha256_hex, show, utf8};
use countersign_domain::plan::evidence::EvidenceKind;
use countersign_domain::plan::payload::FileCheck;
use countersign_domain::work::places::Placed;
use memchr::memmem;
use std::io::Read;
use std::path::Path;

/// How large a file may be whose content is looked at.
const CONTENT_MAX: u64 = 64 << 20;

/// Looks at a file.
pub(super) fn collect(wanted: &FileCheck, checkout: &Path) -> Evidence {
    let path = wanted.path.as_str().to_owned();
    let mut seen = FileSeen { path, exists: false, size_bytes: None, sha256: None };
    let (status, says) = look(wanted, checkout, &mut seen);
    Evidence { file: Some(seen), ..Evidence::new(EvidenceKind::File, status, says) }
}

fn look(wanted: &FileCheck, checkout: &Path, seen: &mut FileSeen) -> (Status, String) {
    let name = show(wanted.path.as_str());
    if !wanted.path.is_usable() {
        return (Status::Blocked, format!("`{name}` leads to no place in the project"));
    }
    if !checkout.is_dir() {
        return (Status::Blocked, "the checkout to look in is not there".to_owned());
    }
    let found = match beneath::open(checkout, wanted.path.place()) {
        Ok(found) => found,
        Err(error) => return (Status::Blocked, format!("`{name}` cannot be opened: {error}")),
    };
    seen.exists = !matches!(found, Found::Nothing);
    let must_exist = wanted.exists != Some(false);
    let file = match found {
        Found::Nothing if must_exist => return (Status::Fail, format!("`{name}` is not there")),
        Found::Nothing => return (Status::Pass, format!("`{name}` is not there, as it should be")),
        _ if !must_exist => return (Status::Fail, format!("`{name}` is there, and must not be")),
        Found::Other => return (Status::Fail, format!("`{name}` is no file")),
        Found::Link => {
            return (
                Status::Fail,
                format!("`{name}` is a link that leads to no file in the checkout; such are not followed"),
            );
        }
        Found::File(file) => file,
    };
    seen.size_bytes = file.metadata().ok().map(|found| found.len());
    let mut bytes = Vec::new();
    if let Err(error) = file.take(CONTENT_MAX + 1).read_to_end(&mut bytes) {
        return (Status::Blocked, format!("`{name}` cannot be read: {error}"));
    }
    let is_whole = bytes.len() as u64 <= CONTENT_MAX;
    if is_whole {
        seen.size_bytes = Some(bytes.len() as u64);
        seen.sha256 = Some(sha256_hex(&bytes));
    }
    let Some(size) = seen.size_bytes else { return (Status::Blocked, format!("the size of `{name}` is not known")) };
    if let Some(fault) = size_fault(wanted, size) {
        return (Status::Fail, format!("`{name}` {fault}"));
    }
    let asks_for_content = wanted.sha256.is_some()
        || wanted.contains.is_some()
        || wanted.not_contains.is_some()
        || wanted.json_pointer.is_some()
        || wanted.equals.is_some();
    if asks_for_content && !is_whole {
        let limit = CONTENT_MAX >> 20;
        return (Status::Blocked, format!("`{name}` has {size} bytes; content is looked at up to {limit} MiB"));
    }
    match content_fault(wanted, &bytes, seen.sha256.as_deref()) {
        Some(fault) => (Status::Fail, format!("`{name}` {fault}")),
        None => (Status::Pass, format!("`{name}` is there with {size} bytes, and is what it should be")),
    }
}

fn size_fault(wanted: &FileCheck, size: u64) -> Option<String> {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let (least, most) = (wanted.min_size.map(|it| it.get()), wanted.max_size.map(|it| it.get()));
    if let Some(least) = least.filter(|least| size < *least) {
        return Some(format!("has {size} bytes, and must have at least {least}"));
    }
    let most = most.filter(|most| size > *most)?;
    Some(format!("has {size} bytes, and may have at most {most}"))
}

fn content_fault(wanted: &FileCheck, bytes: &[u8], sha256: Option<&str>) -> Option<String> {
    if let Some(hash) = &wanted.sha256
        && sha256 != Some(hash.as_str())
    {
        return Some(format!("has the SHA-256 {}, and must have {}", sha256.unwrap_or("?"), hash.as_str()));
    }
    let holds = |text: &&Text| memmem::find(bytes, text.as_str().as_bytes()).is_some();
    if let Some(missing) = wanted.contains.iter().flat_map(|texts| texts.iter()).find(|text| !holds(text)) {
        return Some(format!("does not contain `{}`", show(missing.as_str())));
    }
    if let Some(present) = wanted.not_contains.iter().flat_map(|texts| texts.iter()).find(holds) {
        return Some(format!("contains `{}`, and must not", show(present.as_str())));
    }
    if wanted.json_pointer.is_some() || wanted.equals.is_some() { value_fault(wanted, bytes) } else { None }
}

/// What is wrong with the value at a pointer. Numbers are equal when their values are, however they are written.
fn value_fault(wanted: &FileCheck, bytes: &[u8]) -> Option<String> {
    let pointer = wanted.json_pointer.as_deref().unwrap_or_default();
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Some(format!("was not looked into: `{}` is no JSON pointer; it begins with `/`", show(pointer)));
    }
    let form = Form::of_name(wanted.path.as_str()).unwrap_or(Form::Json);
    // Numbers that no computer keeps exactly, such as long ids, are nobody's fault here. They are what is written.
    let text = utf8(bytes).map(|text| if form == Form::Json { inexact_as_texts(text) } else { text.into() });
    let read = text.as_ref().map_err(Clone::clone).and_then(|text| parse(text, form, text.len()));
    let document = match read {
        Ok(document) => document,
        Err(fault) => return Some(format!("cannot be read as {}: {}", form.as_str(), fault.message)),
    };
    let Some(found) = document.find(&Pointer::at(pointer)) else {
        return Some(format!("has nothing at `{}`", show(pointer)));
    };
    let expected = canonical(&wanted.equals.as_ref()?.to_value());
    let found = found.canonical();
    (found != expected)
        .then(|| format!("has `{}` at `{}`, and must have `{}`", show(&found), show(pointer), show(&expected)))
}
