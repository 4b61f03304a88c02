//! What must be seen of the world, and by whom it is shown.

use countersign_contract::{Checked, Checker, Outside, Settings};
use countersign_domain::deciding::Tree;
use std::sync::LazyLock;

/// Looks at the world for commands and views, before anything is decided. Whoever implements it changes nothing.
pub trait World: Sync {
    /// What payloads are checked with.
    fn checker(&self) -> Checker<'_>;

    /// The time and fresh ids.
    fn outside(&self) -> Outside;

    /// The time, fresh ids, and whether the files are there that a document refers to. None, if it refers to none.
    fn look_for_files(&self, checked: &Checked, name: &str) -> Option<Outside>;

    /// The working tree, compared with a commit, or with the one that is checked out. None, where there is none.
    fn tree(&self, base: Option<&str>) -> Option<Tree>;

    /// Whether the evidence that comes with a request was collected by this process, which has carried out the checks itself
    /// just now. Whoever only hands on what they were given has not.
    fn has_collected(&self) -> bool {
        false
    }

    /// Whether whoever asks is another machine's, as far as anybody knows, and no process here.
    fn is_afar(&self) -> bool {
        false
    }

    /// Whether this is the file of the working tree that the payload of a request was read from, and is in no commit since
    /// `base`, nor staged.
    fn is_brought(&self, _path: &str, _base: &str) -> bool {
        false
    }
}

/// A world in which there is nothing but the time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nowhere;

static SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::default);

impl World for Nowhere {
    fn checker(&self) -> Checker<'_> {
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &SETTINGS, raised: &[] }
    }

    fn outside(&self) -> Outside {
        Outside { now: Some(jiff::Timestamp::now()), ..Outside::default() }
    }

    fn look_for_files(&self, _: &Checked, _: &str) -> Option<Outside> {
        None
    }

    fn tree(&self, _: Option<&str>) -> Option<Tree> {
        None
    }
}
