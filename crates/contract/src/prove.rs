//! Holds rules to their own explanations: every fenced block is a test.
//!
//! A block begins with its language (`json`, `yaml`, `jsonl`, `markdown`) and its part:
//!
//! - `rejected` must raise this rule and no error of another, `accepted` must raise neither this rule nor any error;
//! - `with CONTRACT` and `against` are handed in with the next of those two, as `--with` and `--against` do; a `with`
//!   must itself be allowed, unless `refused` stands after it, and then must not be;
//! - `schema` is a user's own contract for the next, which is then a document of it and nothing of ours;
//! - `outside` says what the door saw, for the next: `{"files": {"a.md": false}, "changed": ["a.md"], "now": "2026-02-07T18:30:00Z"}`.
//!
//! The text of a block is a merge patch (RFC 7396) over the smallest example of the rule's contract, or of the contract
//! named after the part; with `jsonl`, each line is one. After it may stand: `raw` (the text is the document itself),
//! `strict`, `tokens_max=N` (the setting), `unsealed` (hashes and counts are left as the patch makes them), and `also:RULE`
//! for another error that cannot be kept out.

use crate::check::{Checker, Request, check};
use crate::contract::ContractInfo;
use crate::document::Form;
use crate::foreign::Foreign;
use crate::outside::{Outside, Settings};
use crate::rule::RuleInfo;
use crate::set::Set;
use countersign_diagnostic::{Severity, Source};
use serde_json::Value;

/// A fenced block of an explanation.
#[derive(Debug, Clone)]
pub struct Block {
    /// The words after the fence.
    pub info: Vec<String>,
    /// What stands between the fences.
    pub text: String,
}

/// The fenced blocks of an explanation.
pub fn blocks(explanation: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in explanation.lines() {
        let line = line.strip_prefix(' ').unwrap_or(line);
        match (line.strip_prefix("```"), open.take()) {
            (Some(info), None) => {
                let info = info.split_whitespace().map(str::to_owned).collect();
                open = Some(Block { info, text: String::new() });
            }
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    blocks
}

/// Everything that is not true of a rule's examples. A rule must have a rejected and an accepted one.
pub fn examples(rule: &RuleInfo, contracts: &[ContractInfo], fallback: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut parts = (0, 0);
    let mut scene = Scene::default();
    for block in blocks(rule.explanation) {
        let part = block.info.get(1).map(String::as_str);
        match part {
            Some("rejected") => {
                parts.0 += 1;
                prove(rule, contracts, fallback, &block, &std::mem::take(&mut scene), true, &mut faults);
            }
            Some("accepted") => {
                parts.1 += 1;
                prove(rule, contracts, fallback, &block, &std::mem::take(&mut scene), false, &mut faults);
            }
            Some("with") => scene.with.push(block),
            Some("against") => scene.against = Some(block),
            Some("schema") => scene.schema = Some(block.text),
            Some("outside") => scene.outside = outside(&block.text),
            _ => faults.push(format!("{}: a block `{}` has no part that is known", rule.id, block.info.join(" "))),
        }
    }
    if parts.0 == 0 || parts.1 == 0 {
        faults.push(format!("{}: wants at least one rejected and one accepted example", rule.id));
    }
    faults
}

#[derive(Default)]
struct Scene {
    with: Vec<Block>,
    against: Option<Block>,
    schema: Option<String>,
    outside: Outside,
}

fn prove(
    rule: &RuleInfo,
    contracts: &[ContractInfo],
    fallback: &str,
    block: &Block,
    scene: &Scene,
    rejected: bool,
    faults: &mut Vec<String>,
) {
    let has = |word: &str| block.info.iter().any(|it| it == word);
    let contract =
        contract_of(block, contracts).unwrap_or(if rule.contract == "any" { fallback } else { rule.contract });
    let Some((text, form)) = document(block, contract, contracts) else {
        faults.push(format!("{}: a block is not a patch for {contract}: {}", rule.id, block.text));
        return;
    };
    let mut settings = Settings { strict: has("strict"), ..Settings::default() };
    if let Some(limit) = block.info.iter().find_map(|it| it.strip_prefix("tokens_max=")?.parse().ok()) {
        settings.tokens_max = limit;
    }
    let declared = match scene.schema.as_deref().map(declared).transpose() {
        Ok(declared) => declared,
        Err(fault) => {
            faults.push(format!("{}: {fault}", rule.id));
            return;
        }
    };
    let checker = Checker { contracts, foreign: declared.as_slice(), settings: &settings, raised: &[] };
    let set = match companions(&checker, scene) {
        Ok(set) => set,
        Err(fault) => {
            faults.push(format!("{}: {fault}", rule.id));
            return;
        }
    };
    let against = scene.against.as_ref().and_then(|block| document(block, contract, contracts));
    let request = Request {
        source: Source { name: "example", text: &text },
        form: Some(form),
        contract: if declared.is_some() { Some(OWN) } else { (!has("raw")).then_some(contract) },
        against: against.as_ref().map(|(text, _)| Source { name: "older", text }),
        others: &set,
        outside: &scene.outside,
    };
    let decision = check(&checker, &request).decision;
    let findings = &decision.details.diagnostics;
    let raised = findings.iter().any(|it| it.rule == rule.id);
    let also: Vec<&str> = block.info.iter().filter_map(|it| it.strip_prefix("also:")).collect();
    let strangers: Vec<String> = findings
        .iter()
        .filter(|it| it.severity == Severity::Error && it.rule != rule.id && !also.contains(&it.rule))
        .map(|it| format!("{} at {}: {}", it.rule, it.pointer, it.message))
        .collect();
    let words = if rejected { "a rejected" } else { "an accepted" };
    if raised != rejected {
        let verb = if rejected { "does not raise" } else { "raises" };
        faults.push(format!("{}: {words} example {verb} it: {}", rule.id, block.text.trim()));
    }
    if !strangers.is_empty() {
        faults.push(format!("{}: {words} example raises others: {}", rule.id, strangers.join("; ")));
    }
}

/// What a user's own contract is called in an example.
const OWN: &str = "own";

fn declared(schema: &str) -> Result<Foreign, String> {
    let schema = serde_json::from_str(schema).map_err(|error| format!("a `schema` block is not JSON: {error}"))?;
    Foreign::new(OWN, &[], &schema)
}

fn contract_of<'c>(block: &Block, contracts: &'c [ContractInfo]) -> Option<&'c str> {
    let mut words = block.info.iter().skip(2);
    words.find_map(|word| contracts.iter().find(|it| it.name == word)).map(|it| it.name)
}

/// The document that a block stands for.
fn document(block: &Block, contract: &str, contracts: &[ContractInfo]) -> Option<(String, Form)> {
    let has = |word: &str| block.info.iter().any(|it| it == word);
    let form = match block.info.first().map(String::as_str) {
        Some("yaml") => Form::Yaml,
        Some("jsonl") => Form::JsonLines,
        Some("markdown") => Form::Markdown,
        _ => Form::Json,
    };
    if has("raw") || form == Form::Markdown {
        return Some((block.text.clone(), form));
    }
    let contract = contracts.iter().find(|it| it.name == contract)?;
    let patched = |patch: &str| -> Option<Value> {
        let patch: Value = if form == Form::Yaml {
            crate::parse(patch, form, crate::SIZE_MAX).ok()?.root().to_value()
        } else {
            serde_json::from_str(patch).ok()?
        };
        let mut document = (contract.example)();
        merge(&mut document, &patch);
        if !has("unsealed") {
            (contract.seal)(&mut document);
        }
        Some(document)
    };
    if form == Form::JsonLines {
        let lines: Option<Vec<String>> =
            block.text.lines().map(|line| patched(line).map(|document| format!("{document}\n"))).collect();
        return Some((lines?.concat(), form));
    }
    let document = patched(&block.text)?;
    Some((serde_json::to_string_pretty(&document).ok()?, Form::Json))
}

fn companions(checker: &Checker<'_>, scene: &Scene) -> Result<Set, String> {
    let mut set = Set::default();
    for block in &scene.with {
        let contract = contract_of(block, checker.contracts).ok_or("a `with` block names no contract")?;
        let (text, form) = document(block, contract, checker.contracts)
            .ok_or_else(|| format!("a `with` block is not a patch for {contract}"))?;
        let source = Source { name: "companion", text: &text };
        let request = Request { contract: Some(contract), form: Some(form), ..Request::alone(source, &scene.outside) };
        let checked = check(checker, &request);
        let refused = block.info.iter().any(|it| it == "refused");
        if checked.decision.allow == refused {
            return Err(format!("a `with` block is itself decided otherwise: {}", checked.decision.reason));
        }
        set.add_checked(&checked);
    }
    Ok(set)
}

fn outside(text: &str) -> Outside {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let files = value.get("files").and_then(Value::as_object).into_iter().flatten();
    Outside {
        now: value.get("now").and_then(Value::as_str).and_then(|now| now.parse().ok()),
        fresh_uuid: None,
        files: files.map(|(path, there)| (path.clone(), there == true)).collect(),
        changed: value
            .get("changed")
            .and_then(Value::as_array)
            .map(|paths| paths.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect()),
    }
}

/// RFC 7396: members of the patch replace those of the document, null removes.
pub fn merge(document: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        document.clone_from(patch);
        return;
    };
    if !document.is_object() {
        *document = Value::Object(serde_json::Map::new());
    }
    let Value::Object(members) = document else { return };
    for (key, value) in patch {
        if value.is_null() {
            members.shift_remove(key);
        } else {
            merge(members.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}
