//! Answers of validators that are not in the form of a response: whoever knows the contracts' repairs may mend them.

use serde_json::Value;

/// Mends answers.
pub trait Mends: Sync {
    /// The response that a loose answer means, and what was done to it.
    ///
    /// # Errors
    /// It cannot be told; why not.
    fn mend(&self, request: &Value, validator: &str, answer: &str) -> Result<(Value, Vec<String>), String>;
}
