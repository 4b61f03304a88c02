//! What a door sees of the world and hands in: the time, fresh ids, and which files are there.

use crate::project::Project;
use countersign_contract::{Checked, Checker, Form, Outside};
use countersign_domain::deciding::Tree;
use countersign_engine::World;
use countersign_runner::names;
use std::path::{Path, PathBuf};

/// The world as of a time. Without one, as of now.
pub fn outside(at: Option<jiff::Timestamp>) -> Outside {
    Outside {
        now: Some(at.unwrap_or_else(jiff::Timestamp::now)),
        fresh_uuid: Some(uuid::Uuid::new_v4().to_string()),
        ..Outside::default()
    }
}

/// What commands and views can see from a project.
pub struct Around<'p> {
    /// The project.
    pub project: &'p Project,
    /// Whether there may be a working tree around it. Where it is known that there is none, nobody looks for one.
    pub may_be_tracked: bool,
}

impl<'p> Around<'p> {
    /// What can be seen from a project of which nothing is known yet.
    pub fn of(project: &'p Project) -> Self {
        Self { project, may_be_tracked: true }
    }
}

impl World for Around<'_> {
    fn checker(&self) -> Checker<'_> {
        self.project.checker()
    }

    fn outside(&self) -> Outside {
        outside(None)
    }

    fn look_for_files(&self, checked: &Checked, name: &str) -> Option<Outside> {
        look_for_files(checked, &outside(None), Path::new(name), self.project)
    }

    fn tree(&self, base: Option<&str>) -> Option<Tree> {
        let root = self.may_be_tracked.then(|| self.project.tree_root())??;
        countersign_runner::git::tree(&root, base)
    }
}

/// The same, with something that is known of whoever asks.
macro_rules! around {
    ($(#[$doc:meta])* $name:ident ($($what:ty)?), $($known:tt)*) => {
        $(#[$doc])*
        pub struct $name<'a>(pub &'a Around<'a> $(, pub $what)?);

        impl World for $name<'_> {
            fn checker(&self) -> Checker<'_> {
                self.0.checker()
            }

            fn outside(&self) -> Outside {
                self.0.outside()
            }

            fn look_for_files(&self, checked: &Checked, name: &str) -> Option<Outside> {
                self.0.look_for_files(checked, name)
            }

            fn tree(&self, base: Option<&str>) -> Option<Tree> {
                self.0.tree(base)
            }

            $($known)*
        }
    };
}

around! {
    /// For a process that has carried out checks itself, whose evidence goes with what it asks for.
    Collecting(),
    fn has_collected(&self) -> bool {
        true
    }
}

around! {
    /// For whoever asks through the server.
    Afar(),
    fn is_afar(&self) -> bool {
        true
    }
}

around! {
    /// For somebody whose payload lies in a file of the working tree.
    Bringing(&'a Path),
    fn is_brought(&self, path: &str, base: &str) -> bool {
        // What is written in Markdown says beside the payload whatever it likes, and agents read it.
        let is_closed = matches!(Form::of_name(path), Some(Form::Json | Form::Yaml));
        let Some(root) = self.0.project.tree_root().filter(|_| is_closed) else { return false };
        let place = self.1.strip_prefix(&root).ok();
        place.is_some_and(|place| names::of_path(place) == path && countersign_runner::git::is_new(&root, place, base))
    }
}

/// Looks for the files that a document refers to. None when it refers to no file.
pub fn look_for_files(checked: &Checked, outside: &Outside, document: &Path, project: &Project) -> Option<Outside> {
    let contract = checked.contract?;
    let paths: Vec<String> = checked.records.iter().flat_map(|record| (contract.files)(record)).collect();
    if paths.is_empty() {
        return None;
    }
    let mut outside = outside.clone();
    for path in paths {
        // Where a document may not point, nobody looks: the answer would tell its author what there is.
        if let Some(place) = place(&path, document, project) {
            outside.files.insert(path, place.exists());
        }
    }
    Some(outside)
}

/// Where a path that a document names lies, if it may be looked at from the project.
pub fn place(path: &str, document: &Path, project: &Project) -> Option<PathBuf> {
    countersign_runner::handoff::reach::place(path, document, project.root.as_deref())
}
