//! The entries that hooks have in the settings of a client: which events, which tools, which command.

use crate::hook::{Harness, asked_matcher, shell_matcher};
use serde_json::{Map, Value, json};
use std::path::Path;

/// After how many seconds a client gives up on a hook. It is longer than a hook takes to answer in doubt.
const TIMEOUT_SECONDS: u64 = 10;

/// The events that a client tells, and of which tools.
fn events(harness: Harness) -> Vec<(&'static str, Option<String>)> {
    // Codex has no event of its own for a command that failed.
    let failed = (harness == Harness::ClaudeCode).then(|| ("PostToolUseFailure", Some(shell_matcher())));
    let around = [("PreToolUse", Some(asked_matcher(harness))), ("PostToolUse", Some(shell_matcher()))];
    let lives = [("SessionStart", None), ("SubagentStart", None), ("Stop", None), ("SubagentStop", None)];
    around.into_iter().chain(failed).chain(lives).collect()
}

/// The command line that a client runs.
pub fn command_of(program: &Path, harness: Harness) -> String {
    format!("{} hook {}", quoted(&program.display().to_string()), harness.as_str())
}

/// A path as a shell takes it.
pub(super) fn quoted(path: &str) -> String {
    let plain = path.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+@:\\".contains(letter));
    match (plain, cfg!(windows)) {
        (true, _) => path.to_owned(),
        (false, true) => format!("\"{path}\""),
        (false, false) => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

/// Whether a matcher is known to cover a tool: it matches everything, or one of its alternatives is the tool's name or what
/// it begins with. Of other expressions that cannot be told.
fn covers(matcher: &Value, tool: &str) -> bool {
    let matcher = match matcher {
        Value::Null => return true,
        Value::String(matcher) => matcher.trim(),
        _ => return false,
    };
    let inner = matcher.strip_prefix("^(").and_then(|it| it.strip_suffix(")$")).unwrap_or(matcher);
    let names = |it: &str| match it.strip_suffix(".*") {
        Some(beginning) => tool.starts_with(beginning),
        None => it == tool,
    };
    // A list of names is divided by commas as well; an expression is not.
    let is_list = matcher.chars().all(|it| it.is_ascii_alphanumeric() || "_- ,|".contains(it));
    let divides = |it: char| it == '|' || (is_list && it == ',');
    matches!(matcher, "" | "*") || inner.split(divides).any(|it| names(it.trim().trim_matches(['^', '$'])))
}

/// The handlers of ours among the settings of a client.
pub struct Handlers(Harness);

impl Handlers {
    /// Those of a client.
    pub fn of(harness: Harness) -> Self {
        Self(harness)
    }

    /// Whether a handler is ours: it runs this program for this client.
    fn is_ours(&self, handler: &Value) -> bool {
        let command = handler["command"].as_str().unwrap_or_default();
        let ending = format!(" hook {}", self.0.as_str());
        let program = command.strip_suffix(&ending).map(|program| program.trim_matches(['"', '\'']));
        program.is_some_and(|program| {
            let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
            matches!(name, "countersign" | "countersign.exe")
        })
    }

    /// The command lines of ours for an event; if a tool is named, those that are run for it.
    pub fn commands(&self, settings: &Value, event: &str, tool: Option<&str>) -> Vec<String> {
        let groups = settings["hooks"][event].as_array().into_iter().flatten();
        let groups = groups.filter(|group| tool.is_none_or(|tool| covers(&group["matcher"], tool)));
        let handlers = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
        handlers.filter(|it| self.is_ours(it)).filter_map(|it| Some(it["command"].as_str()?.to_owned())).collect()
    }

    /// Puts ours in, each once. Says where something stands in the way.
    pub(super) fn put(&self, settings: &mut Map<String, Value>, program: &Path) -> Result<(), String> {
        let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
        let Some(hooks) = hooks.as_object_mut() else { return Err("`/hooks` is no object".to_owned()) };
        for (event, matcher) in events(self.0) {
            let command = command_of(program, self.0);
            let handler = json!({ "type": "command", "command": command, "timeout": TIMEOUT_SECONDS });
            let mut group = json!({ "hooks": [handler] });
            if let Some(matcher) = matcher {
                group = json!({ "matcher": matcher, "hooks": [handler] });
            }
            let groups = hooks.entry(event).or_insert_with(|| json!([]));
            let Some(groups) = groups.as_array_mut() else { return Err(format!("`/hooks/{event}` is no list")) };
            if groups.contains(&group) {
                continue;
            }
            // One of another place or version is replaced where it stands.
            let ours = |group: &Value| {
                let handlers = group["hooks"].as_array();
                handlers.is_some_and(|all| !all.is_empty() && all.iter().all(|it| self.is_ours(it)))
            };
            match groups.iter().position(ours) {
                Some(at) => groups[at] = group,
                None => groups.push(group),
            }
        }
        Ok(())
    }

    /// Takes ours out, and what is empty without them.
    pub(super) fn take(&self, settings: &mut Map<String, Value>) {
        let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut) else { return };
        let mut emptied = false;
        hooks.retain(|_, groups| {
            let Some(groups) = groups.as_array_mut() else { return true };
            let before = groups.len();
            groups.retain_mut(|group| {
                let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut) else { return true };
                let count = handlers.len();
                handlers.retain(|handler| !self.is_ours(handler));
                !handlers.is_empty() || count == 0
            });
            let goes = groups.is_empty() && before > 0;
            emptied |= goes;
            !goes
        });
        if emptied && hooks.is_empty() {
            settings.shift_remove("hooks");
        }
    }
}
