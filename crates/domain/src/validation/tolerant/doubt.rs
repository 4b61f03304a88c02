//! Why an answer cannot be taken for a response, said to whom it was given.

use super::{RESULTS, TRUTH, WORD, meant, opened};
use crate::validation::payload::ValidationRequest;
use countersign_contract::show;
use serde_json::Value;

/// What about a loose answer to `request` only a person can decide. Nothing, where it is no such answer or nothing is
/// known to be wrong with it.
pub fn doubt(answer: &Value, request: &ValidationRequest) -> Option<String> {
    let members = opened(answer, &mut Vec::new())?;
    let has = |names: &[&str]| names.iter().any(|name| members.contains_key(*name));
    let in_a_word = !has(RESULTS);
    if in_a_word && !has(WORD) && !has(TRUTH) {
        return None;
    }
    let shown = |value: &Value| show(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let asked = request.task_id.as_str();
    if let Some(given) = members.get("task_id").filter(|given| given.as_str() != Some(asked)) {
        return Some(format!("the answer is to task `{}`, and the request is `{}`", shown(given), show(asked)));
    }
    let words: Vec<(&str, &Value)> = if in_a_word {
        WORD.iter().chain(TRUTH).filter_map(|key| Some((*key, members.get(*key)?))).collect()
    } else {
        Vec::new()
    };
    for (key, value) in &words {
        if meant(key, value).is_none() {
            return Some(format!("`{key}` is `{}`, which is no word for a result", shown(value)));
        }
    }
    for ((one, word), (other, contrary)) in words.iter().zip(words.iter().skip(1)) {
        if meant(one, word) != meant(other, contrary) {
            let (word, contrary) = (shown(word), shown(contrary));
            return Some(format!("`{one}` is `{word}` and `{other}` is `{contrary}`; only one of them can be true"));
        }
    }
    let criteria = request.acceptance_criteria.len();
    (in_a_word && criteria > 1).then(|| {
        format!(
            "an answer in a word counts where there is one criterion, and {criteria} were asked about: answer each in \
             `criteria_results`"
        )
    })
}
