//! What a client tells its hooks.

use super::halves;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// How many bytes an event may have. What is to be written to a file comes with it.
pub const SIZE_MAX: usize = 32 << 20;

/// What a client tells.
#[derive(Debug, Clone, Default)]
pub struct Event {
    /// What happens.
    pub name: String,
    /// The session.
    pub session: String,
    /// The agent inside of the session, if it is not the session's own.
    pub agent: Option<String>,
    /// Where the session works.
    pub cwd: Option<PathBuf>,
    /// The tool that is used.
    pub tool: String,
    /// Which of the session's calls this is.
    pub call: Option<String>,
    /// What it is used with.
    pub input: Map<String, Value>,
    /// Whether it goes on only because a hook kept it.
    pub goes_on: bool,
}

impl Event {
    /// Reads an event. What is there has to be of its type; what is missing is left to those who need it.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let value: Value = halves::read(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        let Value::Object(mut fields) = value else { return Err("it is no JSON object".to_owned()) };
        let mut text = |name: &str| match fields.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` is no text")),
        };
        let name = text("hook_event_name")?.ok_or("`hook_event_name` is missing")?;
        let session = text("session_id")?.unwrap_or_default();
        let agent = text("agent_id")?.filter(|agent| !agent.is_empty());
        let cwd = text("cwd")?.map(PathBuf::from).filter(|cwd| cwd.is_absolute());
        let tool = text("tool_name")?.unwrap_or_default();
        let call = text("tool_use_id")?.filter(|call| !call.is_empty());
        let goes_on = fields.get("stop_hook_active") == Some(&Value::Bool(true));
        let input = match fields.remove("tool_input") {
            Some(Value::Object(input)) => input,
            _ => Map::new(),
        };
        Ok(Self { name, session, agent, cwd, tool, call, input, goes_on })
    }

    /// The same without what the tool is used with, which may be long.
    pub fn brief(&self) -> Self {
        Self {
            name: self.name.clone(),
            session: self.session.clone(),
            agent: self.agent.clone(),
            cwd: self.cwd.clone(),
            tool: self.tool.clone(),
            call: self.call.clone(),
            input: Map::new(),
            goes_on: self.goes_on,
        }
    }

    /// A text that the tool is used with.
    pub fn input_text(&self, name: &str) -> Option<&str> {
        self.input.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// A path that the tool is used with, as it lies from where the session works.
    pub fn absolute(&self, path: &str) -> PathBuf {
        let here = || std::env::current_dir().unwrap_or_default();
        self.cwd.clone().unwrap_or_else(here).join(Path::new(path))
    }
}
