//! Whose gates are meant: those of a task, or those of a promise.

use crate::cli::asking::OfRun;
use serde_json::{Value, json};

/// A task or a promise.
#[derive(Debug, clap::Args)]
pub struct Of {
    /// The task, or a promise by its id
    #[arg(value_name = "TASK|PROMISE")]
    pub name: String,

    #[command(flatten)]
    of: OfRun,
}

impl Of {
    /// What is asked for, of this one.
    pub fn request(&self, rest: Value) -> Value {
        let mut request = question(&self.name, &self.of);
        if let (Some(request), Value::Object(rest)) = (request.as_object_mut(), rest) {
            request.extend(rest);
        }
        request
    }
}

/// The question how one stands. Promises and tasks are told apart by their ids, which never look alike.
pub fn question(name: &str, of: &OfRun) -> Value {
    match name.starts_with("promise-") {
        true => json!({ "promise_id": name }),
        false => json!({ "run_id": of.id(), "task_id": name }),
    }
}

/// A list of criteria as it is written on the command line: AC-1,AC-2.
pub fn criteria(given: &[String]) -> Vec<&str> {
    given.iter().map(|id| id.trim()).filter(|id| !id.is_empty()).collect()
}
