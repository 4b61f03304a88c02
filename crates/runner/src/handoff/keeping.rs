//! What is taken out of a handoff, in a file that the handoff refers to.
//!
//! There is one such file for a handoff, however often it is repaired: what is taken out later is added behind what was
//! taken out before, so that the one reference leads to all of it and nothing that was kept is ever changed.
//!
//! ```json
//! {"kept_by": "countersign fix", "values": {"/handoff/payload/session": {}}, "later": [{"/handoff/tracing/tags": []}]}
//! ```

use crate::files;
use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

const KEPT_BY: &str = "countersign fix";
/// How long another `fix` that is adding to the same folder is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// Whether there is a file that more may be added to: one that `fix` wrote, whole and not too long.
pub fn may_grow(path: &Path, size_max: usize) -> bool {
    read(path, size_max).is_ok()
}

/// Writes what was taken out to a file of its own. What is there already is never written over.
pub fn begin(path: &Path, values: &Map<String, Value>) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    files::write_new(path, &text(&json!({ "kept_by": KEPT_BY, "values": values })))
}

/// Adds what was taken out to a file that holds what was taken out before, whole or not at all. What it holds last already
/// is not added again, as after a `fix` that was ended before it had replaced the document.
pub fn add(path: &Path, values: &Map<String, Value>, size_max: usize) -> anyhow::Result<()> {
    let folder = path.parent().context("it lies nowhere")?;
    // Between reading and replacing the file, nobody else may add to it.
    let _turn = turn(folder)?;
    let mut kept = read(path, size_max)?;
    let values = Value::Object(values.clone());
    let later = kept.get("later").and_then(Value::as_array);
    if later.and_then(|later| later.last()).or_else(|| kept.get("values")) == Some(&values) {
        return Ok(());
    }
    let list = kept.entry("later").or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        list.push(values);
    }
    let text = text(&Value::Object(kept));
    if text.len() > size_max {
        bail!("{} would have more than the {size_max} bytes allowed", path.display());
    }
    files::write(path, &text)
}

/// Holds the folder until it is let go, as every `fix` does that adds to a file in it.
fn turn(folder: &Path) -> anyhow::Result<File> {
    let context = || format!("{} cannot be locked", folder.display());
    let file = File::open(folder).with_context(context)?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => bail!("{}: another program holds it", context()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(context),
        }
    }
}

fn read(path: &Path, size_max: usize) -> anyhow::Result<Map<String, Value>> {
    let bytes = match files::read_regular(path, size_max) {
        Ok(bytes) => bytes,
        Err(why) => bail!("{} cannot be read: {}", path.display(), why.why(size_max)),
    };
    let kept: Option<Map<String, Value>> = serde_json::from_slice(&bytes).ok();
    kept.filter(is_ours).with_context(|| format!("{} is not a file that `fix` wrote", path.display()))
}

fn is_ours(kept: &Map<String, Value>) -> bool {
    let later = kept.get("later");
    kept.get("kept_by").is_some_and(|by| by == KEPT_BY)
        && kept.get("values").is_some_and(Value::is_object)
        && later.is_none_or(|later| later.as_array().is_some_and(|all| all.iter().all(Value::is_object)))
}

fn text(kept: &Value) -> String {
    format!("{kept:#}\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const SIZE_MAX: usize = 1 << 20;

    fn values(name: &str) -> Map<String, Value> {
        [(format!("/{name}"), json!(name))].into_iter().collect()
    }

    fn kept(path: &Path) -> Value {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn what_is_kept_later_stands_behind_what_was_kept_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("handoffs/session-context.json");
        begin(&path, &values("a")).unwrap();
        assert!(begin(&path, &values("b")).is_err());
        for name in ["b", "a", "a", "c"] {
            add(&path, &values(name), SIZE_MAX).unwrap();
        }
        let expected = json!({
            "kept_by": "countersign fix", "values": {"/a": "a"}, "later": [{"/b": "b"}, {"/a": "a"}, {"/c": "c"}],
        });
        assert_eq!(kept(&path), expected);
    }

    #[test]
    fn a_file_of_somebody_elses_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session-context.json");
        let foreign = [
            "not JSON",
            "[]",
            r#"{"values": {}}"#,
            r#"{"kept_by": "somebody", "values": {}}"#,
            r#"{"kept_by": "countersign fix", "values": []}"#,
            r#"{"kept_by": "countersign fix", "values": {}, "later": {}}"#,
            r#"{"kept_by": "countersign fix", "values": {}, "later": [1]}"#,
        ];
        for text in foreign {
            std::fs::write(&path, text).unwrap();
            assert!(!may_grow(&path, SIZE_MAX) && add(&path, &values("a"), SIZE_MAX).is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::remove_file(&path).unwrap();
        assert!(!may_grow(&path, SIZE_MAX) && add(&path, &values("a"), SIZE_MAX).is_err());
        begin(&path, &values("a")).unwrap();
        let size = std::fs::metadata(&path).unwrap().len() as usize;
        assert!(may_grow(&path, size) && !may_grow(&path, size - 1));
        assert!(add(&path, &values("b"), size).is_err());
        assert_eq!(kept(&path)["later"], Value::Null);
    }

    #[test]
    fn of_many_who_add_at_once_nobody_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session-context.json");
        begin(&path, &values("first")).unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || add(path, &values(&number.to_string()), SIZE_MAX).unwrap());
            }
        });
        let kept = kept(&path);
        let mut names: Vec<&str> = kept["later"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it.as_object()?.values().next()?.as_str())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    }
}
