//! What was changed, against what was declared and what was allowed.

use super::{Evidence, Site, Status};
use countersign_contract::show;
use countersign_domain::plan::evidence::EvidenceKind;
use countersign_domain::work::scope;
use std::collections::BTreeSet;

/// How many resources are named in a sentence.
const NAMED_MAX: usize = 20;

/// Compares what really changed with what was declared, with the scope and with what is forbidden.
pub(super) fn collect(site: &Site<'_>) -> Evidence {
    let (status, says) = match compare(site) {
        Err(text) => (Status::Blocked, format!("`{}` is no resource, so that nothing can be compared", show(text))),
        Ok(faults) if faults.is_empty() => {
            let count = site.changed.len();
            (Status::Pass, format!("what changed ({count} resources) is what was declared, and lies inside the scope"))
        }
        Ok(faults) => (Status::Fail, faults.join("; ")),
    };
    Evidence::new(EvidenceKind::Diff, status, says)
}

/// What is wrong, as clauses. The error is a text that is no resource.
fn compare<'a>(site: &Site<'a>) -> Result<Vec<String>, &'a str> {
    let (changed, declared) = (places(site.changed)?, places(site.declared)?);
    let (scope, forbidden) = (places(site.scope)?, places(site.forbidden)?);
    let within = |places: &BTreeSet<String>, place: &str| places.iter().any(|outer| scope::contains(outer, place));
    let undeclared = changed.difference(&declared);
    let unmade = declared.difference(&changed);
    let outside = changed.iter().filter(|place| !within(&scope, place));
    let banned = changed.iter().filter(|place| within(&forbidden, place));
    let faults = [
        clause("changed, and not declared", undeclared),
        clause("declared, and not changed", unmade),
        clause("changed outside the scope", outside),
        clause("changed, and forbidden", banned),
    ];
    Ok(faults.into_iter().flatten().collect())
}

fn places(resources: &[String]) -> Result<BTreeSet<String>, &str> {
    resources.iter().map(|text| scope::normal(text).map(|it| it.into_owned()).map_err(|_| text.as_str())).collect()
}

fn clause<'p>(what: &str, places: impl Iterator<Item = &'p String>) -> Option<String> {
    let all: Vec<String> = places.map(|place| format!("`{}`", show(place))).collect();
    let named = all.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match all.len() {
        0 => None,
        count if count > NAMED_MAX => Some(format!("{what}: {named} and {} more", count - NAMED_MAX)),
        _ => Some(format!("{what}: {named}")),
    }
}
