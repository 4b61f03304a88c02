//! Finding the browser of this machine.

use super::Trouble;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The variable that names the browser.
const VARIABLE: &str = "COUNTERSIGN_BROWSER";

/// What the browser may be called.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "chromium-headless-shell",
];

/// Where it is on systems that do not put it on the path.
const PLACES: &[&str] = &[
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/// The browser of this machine.
pub(super) fn browser() -> Result<PathBuf, Trouble> {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
    find(named.as_deref(), &std::env::var_os("PATH").unwrap_or_default(), PLACES)
}

fn find(named: Option<&OsStr>, path: &OsStr, places: &[&str]) -> Result<PathBuf, Trouble> {
    if let Some(name) = named {
        let program = Path::new(name);
        let found = if program.components().count() > 1 { Some(program.to_owned()) } else { on_path(name, path) };
        // What is named and not there is not looked for elsewhere: another browser is not the one that was meant.
        return found.filter(|found| is_program(found)).ok_or_else(|| {
            let shown = countersign_contract::show(&name.to_string_lossy());
            Trouble::NoBrowser(format!("{VARIABLE} names `{shown}`, which is no program; name a Chromium, or unset it"))
        });
    }
    let found = NAMES.iter().find_map(|name| on_path(OsStr::new(name), path));
    let found = found.or_else(|| places.iter().map(PathBuf::from).find(|place| is_program(place)));
    found.ok_or_else(|| {
        let message = "there is no Chromium on this machine to look at pages with; install the package chromium \
                       (Debian: apt-get install chromium) or Google Chrome, or name one in";
        Trouble::NoBrowser(format!("{message} {VARIABLE}"))
    })
}

/// A program on the path. Entries that depend on where one stands are passed over, because the folder one stands in may
/// be the work that is looked at.
fn on_path(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|program| is_program(program))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn the_one_that_is_named_counts_and_then_the_first_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let (chrome, own) = (program(folder.path(), "google-chrome", 0o755), program(folder.path(), "own", 0o755));
        program(folder.path(), "plain", 0o644);
        let path = folder.path().as_os_str();
        let none = OsStr::new("");
        let relative = OsStr::new(".:bin:");
        assert_eq!(find(None, path, &[]), Ok(chrome.clone()));
        let chromium = program(folder.path(), "chromium", 0o755);
        assert_eq!(find(None, path, &[]), Ok(chromium));
        assert_eq!(find(Some(own.as_os_str()), none, &[]), Ok(own.clone()));
        assert_eq!(find(Some(OsStr::new("own")), path, &[]), Ok(own));
        assert_eq!(find(None, none, &[chrome.to_str().unwrap()]), Ok(chrome));
        let plain = folder.path().join("plain");
        for missing in [OsStr::new("nothing"), plain.as_os_str(), folder.path().as_os_str()] {
            let Err(Trouble::NoBrowser(why)) = find(Some(missing), path, &[]) else { panic!("{missing:?}") };
            assert!(why.contains(VARIABLE), "{why}");
        }
        for path in [none, relative] {
            let Err(Trouble::NoBrowser(why)) = find(None, path, &[]) else { panic!("{path:?}") };
            assert!(why.contains("install"), "{why}");
        }
    }
}
