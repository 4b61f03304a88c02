//! Asking a person for the values of a new document, one by one. An answer that does not fit its field is asked for again.

use super::FRESH_IDS;
use crate::cli::contracts::Named;
use countersign_contract::foreign::Foreign;
use countersign_contract::{Alone, Checker, Form, Outside, Request, Settings, Timestamp, check, rules};
use countersign_diagnostic::{Pointer, Repair, Severity, Source, visible};
use serde_json::Value;
use std::io::{BufRead, Write};

/// A conversation about a document of a contract.
pub(super) struct Questions<'a> {
    pub(super) contract: &'a Named,
    pub(super) input: &'a mut dyn BufRead,
    pub(super) output: &'a mut dyn Write,
}

impl Questions<'_> {
    /// Asks for each text and number of the document, also in lists of objects. Versions, marks that can be nothing else and what
    /// was made fresh are not asked for.
    pub(super) fn ask(&mut self, document: &mut Value) -> anyhow::Result<()> {
        self.ask_below(document, &Pointer::root())
    }

    fn ask_below(&mut self, document: &mut Value, at: &Pointer) -> anyhow::Result<()> {
        let members: Vec<(String, Value)> = match document.pointer(at.as_str()) {
            Some(Value::Object(members)) => members.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
            _ => return Ok(()),
        };
        for (key, value) in members {
            let place = at.clone().key(&key);
            match value {
                Value::Object(_) => self.ask_below(document, &place)?,
                Value::Array(items) if items.iter().any(Value::is_object) => {
                    for index in 0..items.len() {
                        self.ask_below(document, &place.clone().item(index))?;
                    }
                }
                Value::Bool(_) | Value::Null => {}
                value if self.is_settled(&key, &value) => {}
                value => self.ask_one(document, &place, &value)?,
            }
        }
        Ok(())
    }

    fn is_settled(&self, key: &str, value: &Value) -> bool {
        let fresh = match self.contract {
            Named::Ours(_) => {
                FRESH_IDS.contains(&key) || value.as_str().is_some_and(|text| Timestamp::parse(text).is_some())
            }
            Named::Declared(_) => false,
        };
        let mark = matches!(self.contract, Named::Ours(_)) && self.contract.has_mark(key);
        fresh || (mark && self.has_one_value(key)) || key.to_ascii_lowercase().ends_with("version")
    }

    /// Whether a member of the document can have one value only, so that there is nothing to ask.
    fn has_one_value(&self, key: &str) -> bool {
        let schema = self.contract.schema();
        let followed = |it: &Value| match it["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
            Some(pointer) => schema.pointer(pointer).cloned().unwrap_or_default(),
            None => it.clone(),
        };
        let member = followed(&followed(&schema)["properties"][key]);
        member.get("const").is_some() || member["enum"].as_array().is_some_and(|values| values.len() == 1)
    }

    /// Asks for one value until it fits, or is left as the example has it.
    fn ask_one(&mut self, document: &mut Value, place: &Pointer, example: &Value) -> anyhow::Result<()> {
        while let Some(answer) = self.prompt(place, example)? {
            let mut tried = document.clone();
            Repair::replace(place.clone(), answer, "").apply(&mut tried);
            match fault(self.contract, &tried, place) {
                None => {
                    *document = tried;
                    return Ok(());
                }
                Some(fault) => writeln!(self.output, "  {fault}")?,
            }
        }
        Ok(())
    }

    fn prompt(&mut self, place: &Pointer, example: &Value) -> anyhow::Result<Option<Value>> {
        let shown = match example {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let name = place.as_str().trim_start_matches('/').replace('/', ".");
        write!(self.output, "{} [{}]: ", visible(&name), visible(&shown))?;
        self.output.flush()?;
        let mut line = String::new();
        self.input.read_line(&mut line)?;
        let line = line.trim();
        if line.is_empty() {
            return Ok(None);
        }
        let answer = match example {
            Value::String(_) => line.into(),
            Value::Array(_) if !line.starts_with('[') => {
                Value::Array(line.split(',').map(|item| item.trim().into()).collect())
            }
            _ => serde_json::from_str(line).unwrap_or_else(|_| line.into()),
        };
        Ok(Some(answer))
    }
}

/// What is wrong with the value at a place, by its shape alone: rules may look at values that are still to be asked
/// for.
pub(super) fn fault(contract: &Named, document: &Value, place: &Pointer) -> Option<String> {
    let text = document.to_string();
    let settings = Settings::default();
    let foreign: &[Foreign] = match contract {
        Named::Ours(_) => &[],
        Named::Declared(declared) => std::slice::from_ref(declared),
    };
    let contracts = countersign_domain::contracts();
    let checker = Checker { contracts, foreign, settings: &settings, raised: &[] };
    let request = Request {
        source: Source { name: "answer", text: &text },
        form: Some(Form::Json),
        contract: Some(contract.name()),
        against: None,
        others: &Alone,
        outside: &Outside::default(),
    };
    let decision = check(&checker, &request).decision;
    let of_shape = |rule: &str| rules::RULES.iter().any(|it| it.id == rule);
    let mut found = decision.details.diagnostics.into_iter();
    let found =
        found.find(|it| it.severity == Severity::Error && of_shape(it.rule) && it.pointer.is_within(place.as_str()))?;
    Some(format!("{}; {}", found.message, found.help))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    /// What becomes of the values at `places`, and what was said, when a person answers with `lines` in order. Only
    /// these places are in the document.
    fn conversation(contract: &Named, document: Value, lines: &str) -> (Value, String) {
        let mut document = document;
        let mut output = Vec::new();
        let mut input = lines.as_bytes();
        Questions { contract, input: &mut input, output: &mut output }.ask(&mut document).unwrap();
        (document, String::from_utf8(output).unwrap())
    }

    #[test]
    fn an_answer_that_does_not_fit_is_asked_for_again() {
        let contract = Named::Ours(countersign_domain::contract("assignment").unwrap());
        let example = contract.example().unwrap();
        // The questions come in the order of the document; Enter keeps the example.
        let mut questions = 0;
        let (kept, said) = conversation(&contract, example.clone(), "");
        questions += said.matches("]: ").count();
        assert_eq!(kept, example);
        let index = said.split("]: ").position(|it| it.starts_with("task.timeout_seconds")).unwrap();
        let answers = ["soon", "5", "600"];
        let lines = "\n".repeat(index) + &answers.join("\n") + "\n";
        let (made, said) = conversation(&contract, example.clone(), &lines);
        assert_eq!(made["task"]["timeout_seconds"], 600);
        assert_eq!(said.matches("]: ").count(), questions + 2, "{said}");
        assert_eq!(said.matches("task.timeout_seconds [").count(), 3, "{said}");
        let mut expected = example;
        expected["task"]["timeout_seconds"] = json!(600);
        assert_eq!(made, expected);
    }

    #[test]
    fn what_tells_a_contract_is_asked_for_unless_it_can_be_nothing_else() {
        for (name, asked, settled) in [
            ("subagent_result", &["status", "acceptance_check.0.evidence", "changes.0.resource"][..], "schema_version"),
            ("worklog_entry", &["files_touched", "next_step"], "schema_version"),
            ("orchestrator_output", &["ledger_delta.0.task_id"], "schema_version"),
            ("handoff_bundle", &["acceptance_targets"], "schema_version"),
            ("validation_response", &["criteria_results.0."], "schema_version"),
            ("assignment", &["task.title"], "packet_type"),
        ] {
            let contract = Named::Ours(countersign_domain::contract(name).unwrap());
            let (_, said) = conversation(&contract, contract.example().unwrap(), "");
            for asked in asked {
                assert!(said.contains(asked), "{name}: {asked} is not asked for: {said}");
            }
            assert!(!said.contains(&format!("{settled} [")), "{name}: {said}");
        }
    }

    #[test]
    fn whoever_stops_answering_keeps_the_example() {
        let contract = Named::Ours(countersign_domain::contract("assignment").unwrap());
        let example = contract.example().unwrap();
        let first = conversation(&contract, example.clone(), "").1;
        let index = first.split("]: ").position(|it| it.starts_with("task.lock_scope")).unwrap();
        let (made, said) = conversation(&contract, example.clone(), &("\n".repeat(index) + "[]\n"));
        assert_eq!(made, example);
        assert_eq!(said.matches("task.lock_scope [").count(), 2, "{said}");
    }

    #[test]
    fn answers_for_a_contract_of_the_users_are_held_to_its_schema() {
        let schema = json!({"type": "object", "required": ["invoice_id", "total"], "properties": {
            "invoice_id": {"type": "string", "minLength": 3}, "total": {"type": "integer", "minimum": 1}}});
        let contract = Named::Declared(Box::new(Foreign::new("invoice", &["invoice_id".to_owned()], &schema).unwrap()));
        let (made, said) = conversation(&contract, contract.example().unwrap(), "x\nI-1\nmany\n7\n");
        assert_eq!(made, json!({"invoice_id": "I-1", "total": 7}));
        assert!(said.contains("the schema of `invoice` asks for this"), "{said}");
    }
}
