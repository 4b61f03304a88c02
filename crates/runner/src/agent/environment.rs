//! What an agent sees of our environment.

use super::Job;
use countersign_contract::scan;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The variable by which the processes of an attempt are found again, wherever they went.
pub(crate) const ATTEMPT: &str = "COUNTERSIGN_ATTEMPT";

/// What everybody needs and nobody keeps secret.
const COMMON: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "TZ"];

/// Shorter values are words, and would be found everywhere.
const SECRET_MIN: usize = 8;

/// The variables of an agent.
pub(super) struct Environment {
    pub(super) variables: BTreeMap<OsString, OsString>,
    /// Values that must not be repeated in what is kept of its standard error.
    pub(super) secrets: Vec<String>,
}

/// What everybody sees.
pub(crate) fn common() -> BTreeMap<OsString, OsString> {
    let shared = |name: &str| COMMON.contains(&name) || name.starts_with("LC_");
    let mut variables: BTreeMap<OsString, OsString> =
        std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(shared)).collect();
    variables.insert("TERM".into(), "dumb".into());
    variables
}

/// The common variables, those that the plan names for this agent, those of the task, and the mark. Nothing of ours is
/// handed on by being there: what an agent may do in the ledger is what the task's own variables say.
pub(super) fn of(job: &Job, attempt: &str) -> Result<Environment, String> {
    let mut variables = common();
    let mut secrets = Vec::new();
    let mut keep = |name: &str, value: &str| {
        if value.len() >= SECRET_MIN && (scan::secret_member(name, value) || name.ends_with("_LEASE")) {
            secrets.push(value.to_owned());
        }
    };
    for name in job.agent.environment.iter().flat_map(|names| names.iter()) {
        let name = name.as_str();
        check(name)?;
        if name.to_ascii_uppercase().starts_with("COUNTERSIGN_") {
            return Err(format!(
                "variable `{name}` cannot be handed to an agent: those that begin with COUNTERSIGN_ come from its \
                 task; take it out of the agent's `environment`"
            ));
        }
        if let Some(value) = std::env::var_os(name) {
            keep(name, &value.to_string_lossy());
            variables.insert(name.into(), value);
        }
    }
    for (name, value) in job.variables {
        check(name)?;
        if name == ATTEMPT {
            return Err(format!("variable `{ATTEMPT}` is the mark of an attempt and is set when it starts"));
        }
        if value.contains('\0') {
            return Err(format!("variable `{name}` holds a zero byte, which no environment can"));
        }
        keep(name, value);
        variables.insert(name.into(), value.into());
    }
    variables.insert(ATTEMPT.into(), attempt.into());
    Ok(Environment { variables, secrets })
}

fn check(name: &str) -> Result<(), String> {
    let first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let named = name.chars().all(|letter| first(letter) || letter.is_ascii_digit()) && name.starts_with(first);
    if named { Ok(()) } else { Err(format!("`{}` is no name of a variable", name.escape_debug())) }
}
