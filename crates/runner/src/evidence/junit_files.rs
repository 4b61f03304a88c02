//! Reports that a run has written into the checkout.
//!
//! They are looked for in a few places only, and only what was not there before the run, or was another file then, is
//! read: a report that came with the commit is nobody's evidence.

use super::beneath::{self, Found};
use super::report::{Reading, junit};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

/// Where reports are written by those who follow the custom.
const FILES: &[&str] = &["junit.xml", "report.xml", "test-results.xml"];
const FOLDERS: &[&str] =
    &["test-results", "test-reports", "reports", "target/nextest", "target/surefire-reports", "build/test-results"];
/// How deep and how far folders are looked into, and how large a report may be.
const DEPTH_MAX: usize = 4;
const ENTRIES_MAX: usize = 2_000;
const SIZE_MAX: u64 = 8 << 20;

/// What tells one version of a file from another.
type Version = (u64, Option<SystemTime>);

/// The reports of a checkout, as they were before a run.
pub(super) struct Reports<'a> {
    checkout: &'a Path,
    before: BTreeMap<String, Version>,
}

impl<'a> Reports<'a> {
    /// Remembers which reports are there.
    pub fn before(checkout: &'a Path) -> Self {
        Self { checkout, before: all(checkout) }
    }

    /// What the reports say that are new.
    pub fn after(&self) -> Option<Reading> {
        let now = all(self.checkout);
        let new = now.into_iter().filter(|(name, version)| self.before.get(name) != Some(version));
        junit::join(new.filter_map(|(name, _)| junit::read(&text(self.checkout, &name)?)))
    }
}

fn all(checkout: &Path) -> BTreeMap<String, Version> {
    let mut found = BTreeMap::new();
    let mut left = ENTRIES_MAX;
    for name in FILES {
        found.extend(version(&checkout.join(name)).map(|version| ((*name).to_owned(), version)));
    }
    for name in FOLDERS {
        gather(checkout, name, DEPTH_MAX, &mut left, &mut found);
    }
    found
}

fn gather(checkout: &Path, folder: &str, depth: usize, left: &mut usize, found: &mut BTreeMap<String, Version>) {
    let place = checkout.join(folder);
    let is_folder = place.symlink_metadata().is_ok_and(|it| it.is_dir());
    let Ok(entries) = std::fs::read_dir(&place) else { return };
    for entry in entries.filter_map(Result::ok).take_while(|_| is_folder) {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        let Some(name) = entry.file_name().to_str().map(|name| format!("{folder}/{name}")) else { continue };
        // Links are not followed: the entry's own kind is asked for.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => gather(checkout, &name, depth - 1, left, found),
            Ok(kind) if kind.is_file() && name.ends_with(".xml") => {
                found.extend(version(&entry.path()).map(|version| (name, version)));
            }
            _ => {}
        }
    }
}

fn version(path: &Path) -> Option<Version> {
    let found = path.symlink_metadata().ok().filter(|it| it.is_file())?;
    Some((found.len(), found.modified().ok()))
}

fn text(checkout: &Path, name: &str) -> Option<String> {
    let Ok(Found::File(file)) = beneath::open(checkout, name) else { return None };
    let mut bytes = Vec::new();
    file.take(SIZE_MAX).read_to_end(&mut bytes).ok()?;
    Some(super::plain::text(&bytes))
}
