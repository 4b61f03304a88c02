//! Where a trace has been, as the ledger knows it, and whether it may go on from there.
//!
//! A document says of itself through whom it came; whoever wants a loop to pass leaves a name out. So the chain is taken from
//! what was sent and received. Only where a trace is new to the ledger is there nothing but the document's word.
//!
//! ```text
//! a ─▶ b ─▶ c     c has it by two lines. The last that it received is the one that it goes on from and names;
//! └─────────▶     whether it goes in a circle, or too far, is told by both.
//! ```

use super::row::{StepRow, TraceRow};
use countersign_contract::diagnostic::Code;
use countersign_contract::show;
use std::collections::BTreeSet;

/// How long a chain may become before a person is asked.
pub const UNAPPROVED_MAX: usize = 5;
/// How many names of a chain a document may have; the middle of a longer one is cut.
const WRITTEN_MAX: usize = 10;

/// The way that a handoff goes on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The step by which its source got it; none, if the source began.
    pub after: Option<u64>,
    /// From the workflow that began to the source.
    pub chain: Vec<String>,
}

/// Why a handoff may not go on: under which code, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barred {
    /// What it is filed under.
    pub code: Code,
    /// One clause.
    pub why: String,
    /// What to do.
    pub help: String,
}

/// What a handoff says about where it goes.
#[derive(Debug, Clone, Copy)]
pub struct Onward<'h> {
    /// Who hands over.
    pub source: &'h str,
    /// Who takes over.
    pub target: &'h str,
    /// The chain that it names; none, where its source began.
    pub written: &'h [String],
    /// Whether it says why it is handed over.
    pub reasoned: bool,
    /// Whether a person agreed to it.
    pub approved: bool,
}

/// The way by which a source has got what it hands over. `written` is what its document says, which counts only where nothing
/// was sent yet.
pub fn route(row: Option<&TraceRow>, source: &str, written: &[String]) -> Result<Route, Barred> {
    let Some((row, first)) = row.and_then(|row| Some((row, row.steps.first()?))) else {
        let chain = if written.is_empty() { vec![source.to_owned()] } else { written.to_vec() };
        return Ok(Route { after: None, chain });
    };
    let to_source = |step: &&StepRow| step.target == source;
    if let Some(step) = row.steps.iter().rev().filter(to_source).find(|step| step.received.is_some()) {
        let chain = step.chain.iter().cloned().chain([source.to_owned()]).collect();
        return Ok(Route { after: Some(step.step), chain });
    }
    if first.source == source {
        return Ok(Route { after: None, chain: first.chain.clone() });
    }
    let name = show(source);
    if let Some(step) = row.steps.iter().rev().find(to_source) {
        return Err(Barred {
            code: Code::DependencyNotMet,
            why: format!("{} has not been received, so `{name}` has nothing to hand on", step.says()),
            help: format!("`countersign handoff receive {} --skill {name}` comes first", row.trace),
        });
    }
    Err(Barred {
        code: Code::CorrelationMismatch,
        why: format!("nothing of this trace was handed to `{name}`: {}", drawing(&first.chain, &first.target)),
        help: "name as source who received it, or begin a trace of its own".to_owned(),
    })
}

/// Why a handoff may not go on its way; none, if it may. Of a trace that went on from one place by several lines, each counts.
pub fn bar(row: Option<&TraceRow>, route: &Route, onward: &Onward<'_>) -> Option<Barred> {
    let circular = |why: String, help: &str| Some(Barred { code: Code::CircularHandoff, why, help: help.to_owned() });
    let (chain, source, target) = (&route.chain, onward.source, onward.target);
    if source == target {
        return circular(format!("`{}` would hand over to itself", show(target)), "name another target");
    }
    let before = match chain.iter().any(|skill| skill == target) {
        true => Some(chain.clone()),
        false => row.and_then(|row| way_between(row, target, source)),
    };
    if let Some(before) = before.filter(|_| !onward.reasoned) {
        let why = format!("`{}` was part of the recorded chain before: {}", show(target), drawing(&before, target));
        return circular(why, "say in `meta.handoff_reason` why it is entered again, or name another target");
    }
    let longest = row.and_then(|row| longest(row, source)).filter(|line| line.len() > chain.len());
    let longest = longest.as_ref().unwrap_or(chain);
    if longest.len() > UNAPPROVED_MAX && !onward.approved {
        let why =
            format!("the recorded chain has {} workflows and no approval: {}", longest.len(), drawing(longest, target));
        return circular(why, "ask the user whether the work should go on, and write down what they say");
    }
    if !agrees(chain, onward) {
        let written = if onward.written.is_empty() { vec![onward.source.to_owned()] } else { onward.written.to_vec() };
        return Some(Barred {
            code: Code::CorrelationMismatch,
            why: format!(
                "the document says that it came by {}, and the ledger that it came by {}",
                drawing(&written, target),
                drawing(chain, target)
            ),
            help: "write the chain as it was; `countersign handoff make --trace` takes it from the ledger".to_owned(),
        });
    }
    None
}

/// The shortest way from one workflow to another by what was received, whichever lines that is made of. Each handed on only what it
/// had received by then: who got something later did not pass it on before.
fn way_between(row: &TraceRow, from: &str, to: &str) -> Option<Vec<String>> {
    // Backwards from the last: each step by which something came, and where the one stands that went on with it.
    let mut ways: Vec<(&StepRow, Option<usize>)> = Vec::new();
    let mut met = BTreeSet::new();
    let (mut here, mut before, mut onward) = (to, None, None);
    for at in 0.. {
        for step in row.steps.iter().filter(|step| step.target == here && step.has_arrived(before)) {
            if met.insert(step.step) {
                ways.push((step, onward));
            }
        }
        let (step, _) = *ways.get(at)?;
        if step.source == from {
            let way = std::iter::successors(Some(at), |at| ways.get(*at)?.1);
            let names = way.filter_map(|at| ways.get(at)).map(|(step, _)| step.source.as_str());
            return Some(names.chain([to]).map(str::to_owned).collect());
        }
        (here, before, onward) = (step.source.as_str(), Some(step.sent), Some(at));
    }
    None
}

/// The longest line by which a workflow has got what it hands on. None, if it received nothing.
fn longest(row: &TraceRow, source: &str) -> Option<Vec<String>> {
    // The longest line to the source of each step. What came later is no part of it.
    let mut lines: Vec<Vec<String>> = Vec::new();
    let to = |lines: &[Vec<String>], source: &str, before: Option<u64>| {
        let arrived = row.steps.iter().zip(lines).filter(|(step, _)| step.target == source && step.has_arrived(before));
        let line = arrived.map(|(_, line)| line).max_by_key(|line| line.len())?;
        Some(line.iter().cloned().chain([source.to_owned()]).collect::<Vec<_>>())
    };
    for step in &row.steps {
        let line = to(&lines, &step.source, Some(step.sent)).unwrap_or_else(|| step.chain.clone());
        lines.push(line);
    }
    to(&lines, source, None)
}

/// Whether a document names the chain as it was, or what is left of it where it is too long to be named whole.
fn agrees(chain: &[String], onward: &Onward<'_>) -> bool {
    let written = onward.written;
    if written.is_empty() {
        return chain.len() == 1;
    }
    if written == chain {
        return true;
    }
    let mut rest = chain.iter();
    let part = written.iter().all(|name| rest.any(|it| it == name));
    let ends = written.first() == chain.first() && written.last() == chain.last();
    chain.len() > WRITTEN_MAX && written.len() >= WRITTEN_MAX && part && ends
}

/// A chain and where it goes next, as a line.
pub fn drawing(chain: &[String], target: &str) -> String {
    const SHOWN_MAX: usize = 12;
    let mut names: Vec<String> = chain.iter().map(String::as_str).chain([target]).map(show).collect();
    if names.len() > SHOWN_MAX {
        names.splice(SHOWN_MAX / 2..names.len() - SHOWN_MAX / 2, ["…".to_owned()]);
    }
    format!("`{}`", names.join(" → "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::handoff::row::ReceiptRow;

    fn names(chain: &str) -> Vec<String> {
        chain.split_whitespace().map(str::to_owned).collect()
    }

    /// A trace of steps such as `a>b`, received at once, `a>b?`, not received, and `a>b~`, received after all the others.
    fn trace(steps: &str) -> TraceRow {
        let mut row = TraceRow { trace: "t".to_owned(), steps: Vec::new() };
        for (number, step) in (1..).zip(steps.split_whitespace()) {
            let (source, target) = step.trim_end_matches(['?', '~']).split_once('>').unwrap();
            let received = |step: &str| if step.ends_with('~') { 1000 + number } else { 2 * number + 1 };
            let route = route(Some(&row).filter(|row| !row.steps.is_empty()), source, &[]).unwrap();
            let receipt = ReceiptRow { seq: received(step), at: String::new(), by: String::new() };
            row.steps.push(StepRow {
                step: number,
                source: source.to_owned(),
                target: target.to_owned(),
                chain: route.chain,
                after: route.after,
                made: String::new(),
                expires_at: None,
                tokens: 0,
                kept: Vec::new(),
                sums: Vec::new(),
                run: None,
                sent: 2 * number,
                sent_at: String::new(),
                sent_by: String::new(),
                received: Some(receipt).filter(|_| !step.ends_with('?')),
                processed: None,
                errors: Vec::new(),
            });
        }
        row
    }

    #[test]
    fn the_way_of_a_source_is_the_one_by_which_it_received() {
        let cases = [
            ("", "a", Ok((None, "a"))),
            ("a>b", "b", Ok((Some(1), "a b"))),
            ("a>b b>c", "c", Ok((Some(2), "a b c"))),
            // Who began may hand it to somebody else too.
            ("a>b a>c", "c", Ok((Some(2), "a c"))),
            ("a>b?", "a", Ok((None, "a"))),
            // Who got it back goes on from there.
            ("a>b b>a", "a", Ok((Some(2), "a b a"))),
            ("a>b?", "b", Err(Code::DependencyNotMet)),
            ("a>b", "c", Err(Code::CorrelationMismatch)),
        ];
        for (steps, source, wanted) in cases {
            let row = trace(steps);
            let found = route(Some(&row), source, &[]);
            let wanted = wanted.map(|(after, chain)| Route { after, chain: names(chain) });
            assert_eq!(found.map_err(|barred| barred.code), wanted, "{steps} by {source}");
        }
    }

    #[test]
    fn a_way_is_barred_by_what_is_recorded_whatever_the_document_says() {
        let long = "a b c d e f g h i j k l";
        let cut = "a b c d e h i j k l";
        // The chain that is recorded, the target, what is written, a reason, an approval.
        let cases = [
            ("a", "b", "", false, false, None),
            ("a", "b", "a", false, false, None),
            ("a", "a", "a", true, true, Some(Code::CircularHandoff)),
            ("a b", "a", "a b", false, false, Some(Code::CircularHandoff)),
            // Leaving a name out does not open the way.
            ("a b", "a", "b", false, false, Some(Code::CircularHandoff)),
            ("a b", "a", "a b", true, false, None),
            ("a b", "c", "b", false, false, Some(Code::CorrelationMismatch)),
            ("a b", "c", "", false, false, Some(Code::CorrelationMismatch)),
            ("a b c d e", "f", "a b c d e", false, false, None),
            ("a b c d e f", "g", "f", false, false, Some(Code::CircularHandoff)),
            ("a b c d e f", "g", "a b c d e f", false, true, None),
            (long, "m", cut, false, true, None),
            (long, "m", "a b c d e g i j k l", false, true, None),
            (long, "m", "a b c d e x i j k l", false, true, Some(Code::CorrelationMismatch)),
            (long, "m", "a l", false, true, Some(Code::CorrelationMismatch)),
        ];
        for (chain, target, written, reasoned, approved, wanted) in cases {
            let route = Route { after: None, chain: names(chain) };
            let written = names(written);
            let source = route.chain.last().unwrap();
            let onward = Onward { source, target, written: &written, reasoned, approved };
            assert_eq!(bar(None, &route, &onward).map(|it| it.code), wanted, "{chain} to {target} as {written:?}");
        }
    }

    #[test]
    fn a_way_is_barred_by_every_line_that_leads_to_it() {
        // What was sent, the target of the last one's receiver, a reason, an approval, and what is drawn if it is barred.
        let cases = [
            // b has it by a, and c by b; that c has it by a too does not make b new.
            ("a>b b>c a>c", "c", "b", false, false, Some("b → c → b")),
            ("a>b b>c a>c", "c", "b", true, false, None),
            ("a>b b>c a>c", "c", "d", false, false, None),
            // Two lines that meet are no circle; the way back is one.
            ("a>b a>c", "c", "b", false, false, None),
            ("a>b a>c c>b", "b", "c", false, false, Some("a → c → b → c")),
            // Over two lines at once.
            ("a>b a>d d>b b>c a>c", "c", "d", false, false, Some("d → b → c → d")),
            // What was not received leads nowhere.
            ("a>b b>c? a>c", "c", "b", false, false, None),
            // Who received it only after it had handed on has passed nothing of it on: b told c before d told b.
            ("a>b b>c a>d d>b", "c", "d", false, false, None),
            ("a>d d>b~ a>b b>c", "c", "d", false, false, None),
            ("a>d d>b a>b b>c", "c", "d", false, false, Some("d → b → c → d")),
            // Having handed on once more since, it has.
            ("a>b b>c a>d d>b b>c", "c", "d", false, false, Some("a → d → b → c → d")),
            // The shorter line does not make the longer one short.
            ("a>b b>c c>d d>e e>f a>f", "f", "g", false, false, Some("a → b → c → d → e → f → g")),
            ("a>b b>c c>d d>e e>f a>f", "f", "g", false, true, None),
            ("a>b b>c c>d d>e a>e", "e", "g", false, false, None),
            // What came to it after it had handed on makes no line longer.
            ("a>e e>f a>b b>c c>d d>e", "f", "g", false, false, None),
            // A line that joined a shorter one before it went on.
            ("a>b b>c c>d a>d d>e e>f", "f", "g", false, false, Some("a → b → c → d → e → f → g")),
        ];
        for (steps, source, target, reasoned, approved, wanted) in cases {
            let row = trace(steps);
            let route = route(Some(&row), source, &[]).unwrap();
            let onward = Onward { source, target, written: &route.chain, reasoned, approved };
            let barred = bar(Some(&row), &route, &onward);
            let drawn = barred.as_ref().map(|it| it.why.rsplit(": ").next().unwrap_or_default().trim_matches('`'));
            assert_eq!(drawn, wanted, "{steps}, {source} to {target}: {barred:?}");
        }
    }
}
