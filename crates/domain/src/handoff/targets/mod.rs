//! Who could take a handoff over: candidates with points, and what each point is for.
//!
//! | part | points |
//! |---|---|
//! | category | 40 if it is the one wanted, 20 if it is related |
//! | schema | 20 for version 3.0, 10 for one that a handoff can be brought to |
//! | inputs | 20 if the handoff brings all of them, 10 if some, or if none are asked for |
//! | earlier success | 10 |
//! | autonomy | 10 if it is as wanted |
//! | loop | −30 if the candidate was part of the chain before |
//!
//! The source itself, and a candidate that does not take work from the source, are left out: no points make them right.

mod candidate;

pub use candidate::{Candidate, Skipped, from_front_matter, from_registry, merge};

use super::payload::{ProblemType, UniversalHandoff};
use countersign_contract::show;

/// How many candidates are shown however few points they have.
const SHOWN_MIN: usize = 3;
/// How many candidates are shown at most.
const SHOWN_MAX: usize = 5;

/// A candidate with its points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scored<'c> {
    /// The candidate.
    pub candidate: &'c Candidate,
    /// The sum of its parts.
    pub score: i32,
    /// What it is made of, in the order of the table.
    pub parts: Vec<Part>,
}

/// Points, and what they are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What was looked at: a word of the table.
    pub name: &'static str,
    /// The points.
    pub points: i32,
    /// Why, as a lower-case clause.
    pub reason: String,
}

/// The best candidates for a handoff, best first: three, and up to five as long as they have at least half the points
/// of the first. `autonomous` is whether the user wants a target that works without supervision, if they said.
pub fn best<'c>(handoff: &UniversalHandoff, candidates: &'c [Candidate], autonomous: Option<bool>) -> Vec<Scored<'c>> {
    let source = handoff.handoff.source.skill.as_str();
    let offers = candidates.iter().find(|it| it.name == source).and_then(|it| it.provides_to.as_deref());
    let able =
        |it: &&Candidate| it.name != source && names(it.accepts_from.as_deref(), source) && names(offers, &it.name);
    let mut scored: Vec<_> = candidates.iter().filter(able).map(|it| score(handoff, it, autonomous)).collect();
    scored
        .sort_by(|one, other| other.score.cmp(&one.score).then_with(|| one.candidate.name.cmp(&other.candidate.name)));
    let first = scored.first().map_or(0, |it| it.score);
    let mut place = 0;
    scored.retain(|it| {
        place += 1;
        place <= SHOWN_MIN || (place <= SHOWN_MAX && it.score > 0 && it.score * 2 >= first)
    });
    scored
}

/// Whether a list of skills names one. `*` names all, and so does a list that is not there.
fn names(list: Option<&[String]>, skill: &str) -> bool {
    list.is_none_or(|list| list.iter().any(|it| it == "*" || it == skill))
}

fn score<'c>(handoff: &UniversalHandoff, candidate: &'c Candidate, autonomous: Option<bool>) -> Scored<'c> {
    let parts = vec![
        category(handoff, candidate),
        schema(candidate),
        inputs(handoff, candidate),
        success(candidate),
        autonomy(candidate, autonomous),
        circle(handoff, candidate),
    ];
    Scored { candidate, score: parts.iter().map(|part| part.points).sum(), parts }
}

fn category(handoff: &UniversalHandoff, candidate: &Candidate) -> Part {
    let part = |points, reason| Part { name: "category", points, reason };
    let body = &handoff.handoff;
    let own = category_of(body.context.problem_type);
    let wanted = body.target.category.as_ref().map_or(own, |category| category.as_str());
    let has = |wanted: &str| candidate.categories.iter().any(|it| it.eq_ignore_ascii_case(wanted));
    if has(wanted) {
        return part(40, format!("is in category `{}`", show(wanted)));
    }
    if has(own) {
        return part(20, format!("is in category `{own}`, which fits the kind of problem"));
    }
    match candidate.categories.iter().find(|it| share_word(it, wanted)) {
        Some(near) => part(20, format!("category `{}` is related to `{}`", show(near), show(wanted))),
        None => part(0, format!("is not in category `{}`", show(wanted))),
    }
}

/// The category in which a problem of this kind is at home.
fn category_of(problem: ProblemType) -> &'static str {
    match problem {
        ProblemType::Decision => "decision-support",
        ProblemType::Creative => "creative",
        ProblemType::Analytical => "analysis",
        ProblemType::Strategic => "architecture",
        ProblemType::Implementation => "implementation",
        ProblemType::Research => "research",
        ProblemType::Verification => "verification",
    }
}

/// Whether two names such as `skill-development` and `software-development` have a word in common.
fn share_word(one: &str, other: &str) -> bool {
    let words = |text: &'_ str| -> Vec<String> {
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|it| !it.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let others = words(other);
    words(one).iter().any(|word| others.contains(word))
}

fn schema(candidate: &Candidate) -> Part {
    let (points, reason) = match (candidate.schema_version.as_deref(), candidate.universal) {
        (Some("3.0"), _) => (20, "reads version 3.0".to_owned()),
        (Some("2.0"), _) => (10, "reads version 2.0, which has neither tracing nor tiers".to_owned()),
        (Some(version), true) => (10, format!("reads universal handoffs, of version `{}`", show(version))),
        (None, true) => (10, "reads universal handoffs, of a version it does not name".to_owned()),
        (Some("1.2"), false) => (0, "reads version 1.2, which needs an adapter".to_owned()),
        (Some(version), false) => (0, format!("reads version `{}`", show(version))),
        (None, false) => (0, "names no version".to_owned()),
    };
    Part { name: "schema", points, reason }
}

fn inputs(handoff: &UniversalHandoff, candidate: &Candidate) -> Part {
    let part = |points, reason| Part { name: "inputs", points, reason };
    if candidate.inputs.is_empty() {
        return part(10, "asks for no particular input".to_owned());
    }
    let artifacts = handoff.handoff.payload.artifacts();
    let brought = |input: &&String| {
        input.eq_ignore_ascii_case("handoff-payload")
            || artifacts.iter().any(|artifact| input.eq_ignore_ascii_case(artifact.kind.as_str()))
    };
    let met: Vec<&str> = candidate.inputs.iter().filter(brought).map(String::as_str).collect();
    match met.len() {
        0 => part(0, format!("asks for `{}`, which the handoff does not bring", show(&candidate.inputs.join(", ")))),
        all if all == candidate.inputs.len() => part(20, format!("gets what it asks for: `{}`", show(&met.join(", ")))),
        _ => part(10, format!("gets some of what it asks for: `{}`", show(&met.join(", ")))),
    }
}

fn success(candidate: &Candidate) -> Part {
    let (points, reason) = match candidate.succeeded {
        true => (10, "an earlier handoff to it succeeded"),
        false => (0, "no earlier handoff to it is known to have succeeded"),
    };
    Part { name: "earlier success", points, reason: reason.to_owned() }
}

fn autonomy(candidate: &Candidate, wanted: Option<bool>) -> Part {
    let (points, reason) = match (wanted, candidate.autonomous) {
        (None, _) => (0, "it was not said whether it should work alone"),
        (Some(_), None) => (0, "it does not say whether it works alone"),
        (Some(true), Some(true)) => (10, "works alone, as wanted"),
        (Some(false), Some(false)) => (10, "works under supervision, as wanted"),
        (Some(true), Some(false)) => (0, "works under supervision"),
        (Some(false), Some(true)) => (0, "works alone"),
    };
    Part { name: "autonomy", points, reason: reason.to_owned() }
}

fn circle(handoff: &UniversalHandoff, candidate: &Candidate) -> Part {
    let (points, reason) = match handoff.handoff.chain().iter().any(|skill| skill.as_str() == candidate.name) {
        true => (-30, "was part of the chain before, so a reason is needed"),
        false => (0, "was not part of the chain before"),
    };
    Part { name: "loop", points, reason: reason.to_owned() }
}
