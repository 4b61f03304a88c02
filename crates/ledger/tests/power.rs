//! The power goes at any moment: what was synced is there, of the rest anything may be, and nothing that was said is untrue.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod appender;
mod dice;
mod recorded;

use appender::{Heard, Under, ask, commands, is_whole, open, start};
use dice::Dice;
use recorded::Disk;
use std::path::Path;

/// A piece of the long text that the appender erases.
const ERASED: &[u8] = b"s-7s-7s-7s-7";

/// Whether a file in a folder has something in it.
fn has(folder: &Path, something: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| match path.is_dir() {
        true => has(&path, something),
        false => std::fs::read(path).unwrap().windows(something.len()).any(|it| it == something),
    })
}

/// Two disks on which the power goes now: one that had done nothing unasked, and one that had begun with everything.
fn lose_power(disk: &Disk, heard: &Heard, dice: &mut Dice) {
    for eager in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        disk.cut(eager.then_some(&mut *dice), folder.path());
        let erased = heard.said.iter().any(|it| it == "scrubbed");
        assert!(!erased || !has(folder.path(), ERASED), "what was erased is there again");
        let ledger = open(folder.path()).unwrap();
        heard.holds(&commands(&ledger));
        is_whole(&ledger);
        ask(&ledger, "after").unwrap();
        is_whole(&ledger);
    }
}

#[test]
fn when_the_power_goes_what_was_acknowledged_is_there_and_what_is_there_is_whole() {
    let mut dice = Dice::thrown();
    // Outside of a soak, at some of the moments.
    let stride = if dice::soak().is_some() { 1 } else { 3 };
    let mut cuts = 0;
    for made_before in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (home, log) = (folder.path().canonicalize().unwrap().join("home"), folder.path().join("strace.log"));
        std::fs::create_dir(&home).unwrap();
        if made_before {
            drop(open(&home).unwrap());
        }
        let mut disk = Disk::of(&home);
        let (whole, _) = start("script", &home, "s", Under::Recorded { log: &log }).finish();
        assert!(whole.said.iter().any(|it| it == "end"), "{whole:#?}");
        let mut heard = Heard::default();
        for call in recorded::read(&log) {
            // Before a sync most is at stake, and after something was said there is most to hold.
            let said = call.said();
            let matters = call.syncs() || said.as_ref().is_some_and(|it| it.contains("~ok "));
            let lines = said.iter().flat_map(|it| it.lines()).filter_map(|line| Some(line.split_once('~')?.1));
            lines.for_each(|line| heard.take(line));
            if matters && dice.below(stride) == 0 {
                lose_power(&disk, &heard, &mut dice);
                cuts += 1;
            }
            if said.is_none() {
                disk.take(&call);
            }
        }
        assert_eq!(heard.acknowledged(), whole.acknowledged());
        lose_power(&disk, &heard, &mut dice);
    }
    dice::count("moments at which the power went, each on two disks", cuts);
}
