//! Settings files of clients: read as they are, changed where ours belongs, written in the same hand.

use super::entries::Handlers;
use super::{Edit, Memory, Plan};
use crate::hook::Harness;
use crate::session::SERVER;
use anyhow::{Context, bail};
use countersign_contract::{Form, parse};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The files of a client in a project.
fn files(harness: Harness) -> &'static [&'static str] {
    match harness {
        Harness::ClaudeCode => &[HOOKS_CLAUDE, SERVERS],
        Harness::Codex => &[HOOKS_CODEX],
        Harness::Git => &[],
    }
}

const HOOKS_CLAUDE: &str = ".claude/settings.json";
const LOCAL_CLAUDE: &str = ".claude/settings.local.json";
const HOOKS_CODEX: &str = ".codex/hooks.json";
const SERVERS: &str = ".mcp.json";

/// The file in which a client's hooks stand.
pub fn hooks_file(harness: Harness) -> Option<&'static str> {
    files(harness).first().copied()
}

/// The file in which a user has settings of their own in a project, that hold for hooks too.
pub fn local_file(harness: Harness) -> Option<&'static str> {
    (harness == Harness::ClaudeCode).then_some(LOCAL_CLAUDE)
}

/// The file in which a user has settings of a client for all projects, that hold for hooks too.
pub fn user_file(harness: Harness) -> Option<PathBuf> {
    let (named, folder, file) = match harness {
        Harness::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        Harness::Codex => ("CODEX_HOME", ".codex", "hooks.json"),
        Harness::Git => return None,
    };
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = set(named).or_else(|| Some(set("HOME").or_else(|| set("USERPROFILE"))?.join(folder)))?;
    Some(folder.join(file))
}

/// The names of the files that a plan for a client touches.
pub fn names(harness: Harness) -> &'static [&'static str] {
    files(harness)
}

/// What is to be done to the files of a client, or to undo it.
pub fn plan(harness: Harness, tree: &Path, program: &Path, remove: bool, memory: &Memory) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    for name in files(harness) {
        let path = tree.join(name);
        let before = read(&path)?;
        let old = before.as_deref().map(|text| object(&path, text)).transpose()?;
        let after = if remove {
            old.clone().and_then(|mut settings| {
                take(harness, name, &mut settings);
                restored(&settings, memory.before(&path), before.as_deref())
            })
        } else {
            let mut settings = old.clone().unwrap_or_default();
            put(harness, name, &mut settings, program).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
            Some(written(&settings, before.as_deref())?)
        };
        let same = match (&old, &after) {
            (Some(old), Some(after)) => {
                serde_json::from_str::<Map<String, Value>>(plain(after)).ok().as_ref() == Some(old)
            }
            (None, None) => true,
            _ => false,
        };
        if !same {
            plan.edits.push(Edit { path, before, after, program: false });
        }
    }
    Ok(plan)
}

fn put(harness: Harness, name: &str, settings: &mut Map<String, Value>, program: &Path) -> Result<(), String> {
    if name != SERVERS {
        return Handlers::of(harness).put(settings, program);
    }
    let servers = settings.entry("mcpServers").or_insert_with(|| json!({}));
    let Some(servers) = servers.as_object_mut() else { return Err("`/mcpServers` is no object".to_owned()) };
    let server = json!({ "command": program.display().to_string(), "args": of_client() });
    match servers.get(SERVER) {
        Some(other) if !is_server(other) => {
            Err(format!("there is another server called `{SERVER}`; give it another name"))
        }
        _ => {
            servers.insert(SERVER.to_owned(), server);
            Ok(())
        }
    }
}

fn take(harness: Harness, name: &str, settings: &mut Map<String, Value>) {
    if name != SERVERS {
        return Handlers::of(harness).take(settings);
    }
    let Some(servers) = settings.get_mut("mcpServers").and_then(Value::as_object_mut) else { return };
    if servers.get(SERVER).is_some_and(is_server) {
        servers.shift_remove(SERVER);
        if servers.is_empty() {
            settings.shift_remove("mcpServers");
        }
    }
}

fn is_server(server: &Value) -> bool {
    let name = server["command"].as_str().and_then(|command| command.rsplit(['/', '\\']).next());
    matches!(name, Some("countersign" | "countersign.exe")) && (is_nameless(server) || server["args"] == of_client())
}

/// What the server is started with, so that it knows the sessions of its client by the names that hooks have for them.
fn of_client() -> Value {
    json!(["mcp", "--client", Harness::ClaudeCode.as_str()])
}

/// Whether a server of ours is not told whose sessions call, as earlier versions wrote it.
fn is_nameless(server: &Value) -> bool {
    server["args"] == json!(["mcp"])
}

/// Whether a client starts our server in a project without telling it whose sessions call: what they claim there is then
/// nobody's whom their hooks know.
pub fn server_is_nameless(harness: Harness, root: &Path) -> anyhow::Result<bool> {
    let path = root.join(SERVERS);
    let text = if harness == Harness::ClaudeCode { read(&path)? } else { None };
    let settings = text.map(|text| object(&path, &text)).transpose()?.map(Value::Object).unwrap_or_default();
    let server = &settings["mcpServers"][SERVER];
    Ok(is_server(server) && is_nameless(server))
}

/// What a file is without ours: the bytes that it had before, if it means the same; gone, if it was made for ours.
fn restored(settings: &Map<String, Value>, known: Option<&Option<String>>, now: Option<&str>) -> Option<String> {
    match known {
        Some(None) if settings.is_empty() => return None,
        Some(Some(text)) => {
            let old: Map<String, Value> = serde_json::from_str(plain(text)).unwrap_or_default();
            let without_empty = |mut it: Map<String, Value>| {
                for key in ["hooks", "mcpServers"] {
                    if it.get(key) == Some(&json!({})) {
                        it.shift_remove(key);
                    }
                }
                it
            };
            if without_empty(old) == without_empty(settings.clone()) {
                return Some(text.clone());
            }
        }
        _ => {}
    }
    written(settings, now).ok()
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// The mark of byte order that some editors put before a text. It is no JSON; whoever wrote it gets it back.
const MARK: char = '\u{feff}';

fn plain(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The object in a file. One that is not right is not touched: neither guessed at nor written over.
pub fn object(path: &Path, text: &str) -> anyhow::Result<Map<String, Value>> {
    let text = plain(text);
    let place = |at: usize| {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", path.display())
    };
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    if let Err(fault) = parse(text, Form::Json, countersign_contract::SIZE_MAX) {
        bail!("{}: {}; {}. Nothing was changed", place(fault.span.start), fault.message, fault.help);
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(_) => bail!("{}: it is no JSON object. Nothing was changed", place(0)),
        Err(error) => bail!("{}: {error}. Nothing was changed", path.display()),
    }
}

/// The text of settings, indented as the file was, with a line's end and a mark of byte order where it had them.
fn written(settings: &Map<String, Value>, like: Option<&str>) -> anyhow::Result<String> {
    let indent = like.and_then(indent).unwrap_or_else(|| "  ".to_owned());
    let mut out = match like.is_some_and(|like| like.starts_with(MARK)) {
        true => MARK.to_string().into_bytes(),
        false => Vec::new(),
    };
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    settings.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter))?;
    let mut text = String::from_utf8(out)?;
    if like.is_none_or(|like| like.is_empty() || like.ends_with('\n')) {
        text.push('\n');
    }
    Ok(text)
}

/// The white space before the first line that has some.
fn indent(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty())?;
    Some(line.chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect())
}
