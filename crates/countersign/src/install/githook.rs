//! The hooks of git that are asked before a commit is made. One that was there is kept under another name and run afterwards.

use super::entries::{command_of, quoted};
use super::{Edit, Plan};
use crate::hook::Harness;
use anyhow::{Context, bail};
use countersign_runner::git;
use std::path::{Path, PathBuf};

/// The hooks: for a commit that somebody makes, and for one that a merge makes without asking.
const NAMES: [&str; 2] = ["pre-commit", "pre-merge-commit"];
/// What tells ours from another.
const MARK: &str = "# Written by `countersign install git`; taken out by `countersign install git --remove`.";

/// What one that was there is called from then on.
fn kept(name: &str) -> String {
    format!("{name}.before-countersign")
}

/// Where git looks for hooks of a repository.
pub fn folder(root: &Path) -> Option<PathBuf> {
    git::ask_one(root, &["rev-parse", "--git-path", "hooks"]).map(|path| root.join(path))
}

/// The folder in which git looks for hooks of every repository, where the settings of the user or of the machine name one and those of
/// this repository do not. One that is not named from the root on is another in every repository.
pub fn folder_of_all(root: &Path) -> Option<PathBuf> {
    let said = git::ask_one(root, &["config", "--show-scope", "--type=path", "--get", "core.hooksPath"])?;
    let (scope, named) = said.split_once('\t')?;
    folder(root).filter(|_| matches!(scope, "global" | "system") && Path::new(named).is_absolute())
}

/// Where ours lie and git does not look: the folder of this repository, while settings name one for all.
pub fn passed_over(root: &Path) -> Option<PathBuf> {
    folder_of_all(root)?;
    let common = git::ask_one(root, &["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    let own = Path::new(&common).join("hooks");
    NAMES.iter().any(|name| is_ours(&own.join(name))).then_some(own)
}

fn is_ours(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.contains(MARK))
}

/// The hooks by name, each with its file if it is there and ours.
pub fn installed(root: &Path) -> [(&'static str, Option<PathBuf>); 2] {
    let folder = folder(root);
    NAMES.map(|name| {
        let path = folder.as_ref().map(|folder| folder.join(name));
        (name, path.filter(|path| is_ours(path)))
    })
}

/// Runs the hook that was there, `$kept`, in our place. Some know by `$0` which hook they are, and do nothing by another name:
/// what a shell reads is read under the old one. Not so what asks whether it is read by another, nor what is no text; and one that
/// starts itself anew by that name, and so comes here again as the same process, is run as it is called now.
const RUN_KEPT: &str = r##"if [ -x "$kept" ]; then
  IFS= read -r first < "$kept"
  case "$first" in
    '#!'*[/\ ]sh | '#!'*[/\ ]bash | '#!'*[/\ ]dash | '#!'*[/\ ]sh\ -[a-z]* | '#!'*[/\ ]bash\ -[a-z]*) shell=${first#'#!'} ;;
    '#!'* | *[![:print:][:blank:]]*) shell= ;;
    *) shell=sh ;;
  esac
  if [ -n "$shell" ] && [ "$COUNTERSIGN_KEPT" != "$$" ] && ! grep -q BASH_SOURCE "$kept"; then
    COUNTERSIGN_KEPT=$$ exec $shell -c 'kept=$1; shift; . "$kept"' "$0" "$kept" "$@"
  fi
  exec "$kept" "$@"
fi
"##;

/// What a hook is.
pub fn script(name: &str, program: &Path) -> String {
    let command = command_of(program, Harness::Git);
    let kept = quoted(&kept(name));
    format!(
        "#!/bin/sh\n{MARK}\n# Refuses a commit of files that no task of the committer holds, while a run is open.\n{command} || exit \
         1\nkept=\"$(dirname \"$0\")\"/{kept}\n{RUN_KEPT}"
    )
}

/// What is to be done to the hooks, or to undo it.
pub fn plan(root: &Path, program: &Path, remove: bool) -> anyhow::Result<Plan> {
    let folder = folder(root).context("there is no git repository here")?;
    if let Some(all) = folder_of_all(root).filter(|_| !remove) {
        bail!(
            "git looks for the hooks of every repository in {}, as `core.hooksPath` in the settings of the user or the machine says: \
             what is set up there would be asked everywhere, and what lies in this repository is not asked at all. Give this repository \
             hooks of its own with `git config core.hooksPath FOLDER`, which then has to run those of all as well, and set them up again",
            all.display()
        );
    }
    let mut plan = Plan::default();
    // Those that git passes over were set up as well.
    let folders = [Some(folder), passed_over(root).filter(|_| remove)];
    for (folder, name) in folders.iter().flatten().flat_map(|folder| NAMES.map(|name| (folder, name))) {
        let hook = Hook { path: folder.join(name), kept: folder.join(kept(name)) };
        match remove {
            true => hook.take_out(&mut plan),
            false => hook.put_in(script(name, program), &mut plan),
        }
    }
    Ok(plan)
}

/// A hook, and what the one that was there before is called.
struct Hook {
    path: PathBuf,
    kept: PathBuf,
}

impl Hook {
    fn put_in(self, script: String, plan: &mut Plan) {
        let before = self.ours();
        if before.as_ref() == Some(&script) {
            return;
        }
        if before.is_none() && is_there(&self.path) {
            // Ours was written over, by what would have written over the one that was kept as well.
            if is_there(&self.kept) && !self.is_kept_twice() {
                plan.moves.push((self.kept.clone(), free(&self.kept)));
            }
            plan.moves.push((self.path.clone(), self.kept));
        }
        plan.edits.push(Edit { path: self.path, before, after: Some(script), program: true });
    }

    fn take_out(self, plan: &mut Plan) {
        let ours = self.ours();
        let (is_ours, is_gone) = (ours.is_some(), !is_there(&self.path));
        if is_ours {
            plan.edits.push(Edit { path: self.path.clone(), before: ours, after: None, program: true });
        }
        if !is_there(&self.kept) {
            return;
        }
        // What is there again by itself is that which was kept.
        if is_ours || is_gone || self.is_kept_twice() {
            plan.moves_back.push((self.kept, self.path));
        }
    }

    /// Its text, if it is ours.
    fn ours(&self) -> Option<String> {
        std::fs::read_to_string(&self.path).ok().filter(|text| text.contains(MARK))
    }

    /// Whether the one that is there is the same as the one that was kept.
    fn is_kept_twice(&self) -> bool {
        let (now, kept) = (std::fs::read(&self.path), std::fs::read(&self.kept));
        now.ok().zip(kept.ok()).is_some_and(|(now, kept)| now == kept)
    }
}

/// Also a link that leads nowhere is something that would be lost.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The first name like this one that nothing has.
fn free(path: &Path) -> PathBuf {
    let named = |number: u32| PathBuf::from(format!("{}.{number}", path.display()));
    (1..u32::MAX).map(named).find(|it| !is_there(it)).unwrap_or_else(|| named(0))
}
