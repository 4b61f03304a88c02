//! `countersign promise create`

use crate::cli::Exit;
use crate::cli::asking::{Here, Once, ask, text_of, without_nothing, wrong};
use crate::cli::words::text;
use countersign_domain::validation::evidence::EvidenceKind;
use countersign_runner::validate::Checks;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Promise something, with the criteria by which it will be judged
///
/// It belongs to whoever makes it. The n-th criterion is AC-n.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign promise create --title 'Refuse empty carts' --criterion 'an empty cart is answered with 400' --as coder-1
  countersign promise create --title 'Refuse empty carts' --criterion 'an empty cart gets 400' 'the tests pass' \\
      --evidence-kind statement test --validator reviewer-1 --judge person --as coder-1
  countersign promise create --title 'Refuse empty carts' --criterion 'the tests pass' --checks checks.yaml --as coder-1")]
pub struct Args {
    /// In a few words
    #[arg(long, value_name = "TEXT")]
    title: String,

    /// What must hold
    #[arg(long, value_name = "TEXT", num_args = 1.., required = true)]
    criterion: Vec<String>,

    /// The kind of evidence that criteria ask for: one for all of them, or one for each; unless given the strongest that its
    /// checks give, or a statement
    #[arg(long, value_name = "KIND", num_args = 1.., value_parser = kind)]
    evidence_kind: Vec<&'static str>,

    /// What decides each criterion, in YAML or JSON, by the ids of the criteria: set down now, before the work. Who validates
    /// brings them again, with `gate validate --checks`
    #[arg(long, value_name = "FILE")]
    checks: Option<PathBuf>,

    /// Who must validate, by name, or `person`; anybody else unless given
    #[arg(long, value_name = "NAME", num_args = 1..)]
    validator: Vec<String>,

    /// Who judges, by name, or `person`; nobody unless given
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,

    /// In full
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,

    /// Its id, `promise-` and eight hexadecimal digits; otherwise one is drawn
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    #[command(flatten)]
    once: Once,
}

fn kind(word: &str) -> Result<&'static str, String> {
    let known = || EvidenceKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    EvidenceKind::parse(word).map(EvidenceKind::as_str).ok_or_else(|| format!("`{word}` is none of {}", known()))
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({
        "promise_id": args.id, "title": args.title, "summary": args.summary, "criteria": criteria(args, here)?,
        "validators": args.validator, "judge": args.judge,
    });
    ask(here, &args.once, "promise.create", request, made)
}

fn criteria(args: &Args, here: &Here<'_>) -> anyhow::Result<Vec<Value>> {
    let (wanted, given) = (args.criterion.len(), args.evidence_kind.len());
    if given > 1 && given != wanted {
        return Err(wrong(format!(
            "there are {wanted} criteria and {given} kinds of evidence; give one kind for all of them, or one for each"
        )));
    }
    let ids: Vec<String> = (1..=wanted).map(|n| format!("AC-{n}")).collect();
    let checks = match &args.checks {
        None => Checks::default(),
        Some(path) => {
            let known: Vec<&str> = ids.iter().map(String::as_str).collect();
            Checks::read(&path.to_string_lossy(), &text_of(here, path)?, &known).map_err(wrong)?
        }
    };
    let kind_of = |n: usize| args.evidence_kind.get(n).or(args.evidence_kind.first()).copied();
    let criterion = |(n, (id, description)): (usize, (&String, &String))| {
        let kind = kind_of(n).or_else(|| checks.kind(id).map(EvidenceKind::as_str));
        let set_down = checks.digests(id);
        let set_down = Some(set_down).filter(|digests| !digests.is_empty());
        without_nothing(json!({ "description": description, "evidence": kind, "checks": set_down }))
    };
    Ok(ids.iter().zip(&args.criterion).enumerate().map(criterion).collect())
}

fn made(answer: &Value) -> String {
    let id = text(answer, "promise");
    format!(
        "promised: {id}\n  \
         meet  countersign promise meet {id} AC-1 --evidence TEXT\n  \
         look  countersign gate status {id}\n"
    )
}
