//! Keeping a picture: whole, or not at all.

use base64::Engine;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What every PNG begins with.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Writes a picture that came as Base64 to its place.
pub(super) fn keep(base64: &str, path: &Path) -> Result<PathBuf, String> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64).unwrap_or_default();
    if !bytes.starts_with(PNG) {
        return Err("the browser's picture is no PNG; see whether the browser is one of Chromium's kin".to_owned());
    }
    let shown = countersign_contract::show(&path.to_string_lossy());
    let broken = |error: std::io::Error| format!("the picture cannot be kept as {shown}: {error}");
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(broken)?;
    file.write_all(&bytes).and_then(|()| file.as_file().sync_all()).map_err(broken)?;
    file.persist(path).map_err(|error| broken(error.error))?;
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_picture_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        for text in ["", "not base64!", "aGVsbG8="] {
            assert!(keep(text, &path).is_err());
        }
        assert!(keep("iVBORw0KGgo=", &folder.path().join("none").join("a.png")).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(keep("iVBORw0KGgo=", &path), Ok(path.clone()));
        assert_eq!(std::fs::read(&path).unwrap(), PNG);
    }
}
