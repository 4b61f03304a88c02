//! The bell: a file that is touched after each commit, so that other processes need not look for one.
//!
//! A bell can be missed, so whoever waits also looks once a second.

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

pub(super) struct Bell {
    path: PathBuf,
    file: Option<File>,
    ear: Option<(RecommendedWatcher, Receiver<()>)>,
}

impl Bell {
    pub(super) fn beside(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-bell");
        Self { path: path.into(), file: None, ear: None }
    }

    /// Wakes whoever listens. What cannot be rung is not worth failing for: listeners look by themselves.
    pub(super) fn ring(&mut self) {
        if self.file.is_none() {
            self.file = OpenOptions::new().create(true).truncate(false).write(true).open(&self.path).ok();
        }
        if let Some(file) = &mut self.file {
            let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(b"!"));
        }
    }

    /// Begins to listen; from here on no ring is missed but by chance.
    pub(super) fn listen(&mut self) {
        if self.ear.is_none() {
            self.ear = self.ear();
        }
    }

    fn ear(&self) -> Option<(RecommendedWatcher, Receiver<()>)> {
        // The file must be there to be watched.
        drop(OpenOptions::new().create(true).truncate(false).write(true).open(&self.path).ok()?);
        let (heard, ear) = sync_channel(1);
        let listener = move |_| {
            let _ = heard.try_send(());
        };
        let mut watcher = notify::recommended_watcher(listener).ok()?;
        watcher.watch(&self.path, RecursiveMode::NonRecursive).ok()?;
        Some((watcher, ear))
    }

    /// Waits for a ring, for so long at most.
    pub(super) fn hear(&self, at_most: Duration) {
        match &self.ear {
            Some((_, ear)) => drop(ear.recv_timeout(at_most)),
            None => std::thread::sleep(at_most.min(Duration::from_millis(100))),
        }
    }
}
