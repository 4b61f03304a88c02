//! Working trees that are kept to be used again, so that only what differs has to be written.
//!
//! **Invariant:** checks are given trees in which nothing has ever run.
//! **Invariant:** a tree is compared with what it was when it is lent out again, and not only when it came back: whatever
//! anybody did to it while it was kept is undone.
//! **Invariant:** who works is given a tree in which nothing is left of whoever worked there before, and which none of
//! their processes can reach: it has another name by then, and nobody holds anything in it. Where that is not certain the
//! tree is removed, and a new one made.

use super::call::Git;
use super::holders::{self, Moment};
use super::known::BEFORE;
use super::likeness::{Clock, Likeness};
use super::removing::remove_all;
use super::{Trees, Worktree, checked_out, number};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

/// Working trees that are lent out, taken back, and kept.
pub struct Stock {
    trees: Trees,
    shelf: Arc<Mutex<Shelf>>,
    cleaner: Mutex<Option<Cleaner>>,
    clock: Clock,
}

/// A working tree that was lent out.
#[derive(Debug)]
pub struct Lent {
    /// The tree.
    pub tree: Worktree,
    is_for_work: bool,
    /// What it was like, and when.
    before: Option<(Likeness, Moment)>,
}

/// What became of a working tree that was lent out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It was only read.
    Untouched,
    /// Programs ran in it, and everything that they started is known to have ended.
    AllEnded,
    /// Nobody knows.
    Unknown,
}

/// One that is kept. Git does not know it.
#[derive(Debug)]
struct Spare {
    top: PathBuf,
    likeness: Likeness,
    /// Whether somebody has worked in it.
    was_worked_in: bool,
    /// What git kept about it, where that can be used again.
    aside: Option<PathBuf>,
}

impl Spare {
    fn remove(&self, trees: &Trees) {
        if let Some(aside) = &self.aside {
            let _ = remove_all(aside);
        }
        let _ = trees.remove_at(&self.top);
    }
}

/// What is kept, and how many have been lent out at once of either kind: for work, for checks.
#[derive(Debug, Default)]
struct Shelf {
    spares: Vec<Spare>,
    lent: [usize; 2],
    most: [usize; 2],
}

impl Shelf {
    fn lend(&mut self, is_for_work: bool) -> Option<Spare> {
        let kind = usize::from(is_for_work);
        self.lent[kind] += 1;
        self.most[kind] = self.most[kind].max(self.lent[kind]);
        self.find(is_for_work)
    }

    /// One for work is rather one in which somebody has worked: the others are for checks, too.
    fn find(&mut self, is_for_work: bool) -> Option<Spare> {
        let used = is_for_work.then(|| self.spares.iter().position(|spare| spare.was_worked_in)).flatten();
        let found = used.or_else(|| self.spares.iter().position(|spare| !spare.was_worked_in))?;
        Some(self.spares.swap_remove(found))
    }

    /// Keeps as many as were needed at once. What is too much is given back.
    fn keep(&mut self, spare: Spare) -> Option<Spare> {
        let is_like = |other: &&Spare| other.was_worked_in == spare.was_worked_in;
        if self.spares.iter().filter(is_like).count() < self.most[usize::from(spare.was_worked_in)] {
            self.spares.push(spare);
            return None;
        }
        Some(spare)
    }
}

/// A thread that cleans and removes: nobody has to wait for that.
struct Cleaner {
    send: mpsc::Sender<(Lent, After)>,
    thread: JoinHandle<()>,
}

impl Stock {
    /// An empty one.
    pub fn new(trees: Trees) -> Self {
        Self { trees, shelf: Arc::default(), cleaner: Mutex::new(None), clock: Clock::default() }
    }

    /// How working trees are made.
    pub fn trees(&self) -> &Trees {
        &self.trees
    }

    /// A working tree of a commit for somebody who works.
    ///
    /// # Errors
    /// It cannot be made. The error says why.
    pub fn for_work(&self, name: &str, commit: &str) -> Result<Lent, String> {
        self.lent(name, commit, true)
    }

    /// A working tree of a commit for checks, in which nothing has ever run.
    ///
    /// # Errors
    /// It cannot be made. The error says why.
    pub fn for_checks(&self, name: &str, commit: &str) -> Result<Lent, String> {
        self.lent(name, commit, false)
    }

    fn lent(&self, name: &str, commit: &str, is_for_work: bool) -> Result<Lent, String> {
        let tree = self.lend(name, commit, is_for_work)?;
        // Where git alone can make trees known, and where there are repositories inside, each is made anew.
        let keeps = self.trees.layout.is_plain && !tree.has_modules();
        let likeness = keeps.then(|| Likeness::take(&tree.top, Arc::clone(&tree.index), &self.clock).ok()).flatten();
        Ok(Lent { tree, is_for_work, before: likeness.zip(holders::now()) })
    }

    fn lend(&self, name: &str, commit: &str, is_for_work: bool) -> Result<Worktree, String> {
        let mut spare = locked(&self.shelf).lend(is_for_work);
        while let Some(kept) = spare {
            let restored = kept.likeness.restore(&kept.top);
            if let Ok(tree) = restored.and_then(|()| self.trees.make_from(&kept, name, commit)) {
                return Ok(tree);
            }
            // Whatever is wrong with it, a new one does not have.
            kept.remove(&self.trees);
            spare = locked(&self.shelf).find(is_for_work);
        }
        self.trees.make(name, commit).inspect_err(|_| self.count_back(is_for_work))
    }

    /// Takes a working tree back. It is kept if it is certain that it can be made like a new one.
    pub fn back(&self, lent: Lent, after: After) {
        self.count_back(lent.is_for_work);
        let lent = match after {
            After::Untouched => shelve(&self.trees, &self.shelf, lent),
            _ => Some(lent),
        };
        let Some(lent) = lent else { return };
        let mut cleaner = self.cleaner.lock().unwrap_or_else(PoisonError::into_inner);
        let cleaner = cleaner.get_or_insert_with(|| Cleaner::new(self.trees.clone(), Arc::clone(&self.shelf)));
        // What cannot be dealt with now is swept later.
        let _ = cleaner.send.send((lent, after));
    }

    /// Waits until all that was given back is cleaned or removed.
    pub fn settle(&self) {
        let cleaner = self.cleaner.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Cleaner { send, thread }) = cleaner {
            drop(send);
            let _ = thread.join();
        }
    }

    /// Removes what is kept, and waits until all is removed that was given back.
    pub fn clear(&self) {
        self.settle();
        let spares = std::mem::take(&mut locked(&self.shelf).spares);
        for spare in spares {
            spare.remove(&self.trees);
        }
    }

    fn count_back(&self, is_for_work: bool) {
        let lent = &mut locked(&self.shelf).lent[usize::from(is_for_work)];
        *lent = lent.saturating_sub(1);
    }
}

impl Cleaner {
    fn new(trees: Trees, shelf: Arc<Mutex<Shelf>>) -> Self {
        let (send, receive) = mpsc::channel::<(Lent, After)>();
        let thread = std::thread::spawn(move || {
            for (lent, after) in receive {
                let top = lent.tree.top.clone();
                let cleaned = if after == After::AllEnded { clean(&trees, lent) } else { Err(top) };
                let left = cleaned.map(|spare| locked(&shelf).keep(spare).map(|spare| spare.top));
                if let Some(top) = left.unwrap_or_else(Some) {
                    let _ = trees.remove_at(&top);
                }
            }
        });
        Self { send, thread }
    }
}

impl Trees {
    /// Makes a working tree of one that is kept and that git does not know: what differs is written, the rest stays.
    fn make_from(&self, spare: &Spare, name: &str, commit: &str) -> Result<Worktree, String> {
        let (kept, index) = (&spare.top, &spare.likeness.index);
        let top = self.room_for(name, commit)?;
        std::fs::rename(kept, &top).map_err(|error| format!("{} cannot be moved: {error}", kept.display()))?;
        let make = || {
            let git_dir = self.write_known(name, &top, commit, Some((index, spare.aside.as_deref())))?;
            let before = git_dir.join(BEFORE);
            // Into a file of its own: to replace one takes far longer than to make one.
            let mut output = std::ffi::OsString::from("--index-output=");
            output.push(git_dir.join("index"));
            let commit_only = format!("{commit}^{{commit}}");
            let arguments = ["read-tree".into(), "--reset".into(), "-u".into(), output, commit_only.into()];
            Git { index: Some(&before), ..Git::at(&top) }.run(&arguments, &[])?;
            remove_all(&before)?;
            // Files that did not change would have to be written in another way now; git does not do that.
            let now = checked_out(&git_dir)?;
            let hash = commit.len() / 2;
            if index.attributes(hash).is_none() || index.attributes(hash) != now.attributes(hash) {
                return Err(format!("what says how files are written has changed in {}", top.display()));
            }
            self.made(name, commit, &top, git_dir, now)
        };
        make().inspect_err(|_| {
            let _ = self.remove_at(&top);
        })
    }
}

/// Makes a tree like new. Gives where it stands, if that cannot be done for certain.
fn clean(trees: &Trees, lent: Lent) -> Result<Spare, PathBuf> {
    let Worktree { top, git_dir, .. } = lent.tree;
    let Some((likeness, since)) = lent.before else { return Err(top) };
    // Under another name, so that nobody finds it who only knows where it was.
    let away = top.with_file_name(format!("spare-{}-{}", std::process::id(), number()));
    if trees.forget(&git_dir).is_err() || std::fs::rename(&top, &away).is_err() {
        return Err(top);
    }
    if !holders::nobody_holds(&away, since) || likeness.restore(&away).is_err() {
        return Err(away);
    }
    Ok(Spare { top: away, likeness, was_worked_in: true, aside: None })
}

/// Keeps a tree in which nothing has run. Gives it back, if it has to be removed.
fn shelve(trees: &Trees, shelf: &Mutex<Shelf>, mut lent: Lent) -> Option<Lent> {
    let Some((likeness, _)) = lent.before.take() else { return Some(lent) };
    let aside = trees.put_aside(&lent.tree.name, &lent.tree.git_dir);
    if aside.is_none() && trees.forget(&lent.tree.git_dir).is_err() {
        return Some(lent);
    }
    let spare = Spare { top: lent.tree.top.clone(), likeness, was_worked_in: false, aside };
    let too_much = locked(shelf).keep(spare)?;
    if let Some(aside) = too_much.aside {
        let _ = remove_all(&aside);
    }
    Some(lent)
}

fn locked(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    // Nobody leaves it half changed.
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}
