use super::super::span::Worth;
use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const RUN: &str = "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4";

/// An event as it would be read.
#[derive(Debug, Clone)]
struct Written {
    seq: u64,
    at: i64,
    kind: &'static str,
    run: Option<&'static str>,
    facts: Value,
}

#[derive(Debug, Default)]
struct Log(Vec<Written>);

impl Log {
    fn add(&mut self, at: i64, run: Option<&'static str>, kind: &'static str, facts: Value) -> u64 {
        let seq = self.0.len() as u64 + 1;
        self.0.push(Written { seq, at, kind, run, facts });
        seq
    }

    fn of_run(&mut self, at: i64, kind: &'static str, facts: Value) -> u64 {
        self.add(at, Some(RUN), kind, facts)
    }

    fn told(&self) -> impl Iterator<Item = Told<'_>> {
        self.0.iter().map(|it| Told { seq: it.seq, at: it.at, kind: it.kind, run: it.run, facts: &it.facts })
    }

    fn spans(&self) -> Vec<Span> {
        let mut weaver = Weaver::new("p");
        self.told().flat_map(|told| weaver.tell(&told)).collect()
    }
}

/// One task that passes at its second attempt, after a person was asked.
fn story() -> Log {
    let mut log = Log::default();
    let task = |more: Value| {
        let mut facts = json!({ "run": RUN, "task": "T-1" });
        facts.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        facts
    };
    log.of_run(1000, "run.opened", json!({ "run": RUN, "policy": "gates" }));
    log.of_run(1000, "plan.adopted", json!({ "run": RUN, "tasks": 1 }));
    log.of_run(1000, "task.added", task(json!({})));
    log.of_run(1000, "promise.made", task(json!({ "judge": "endpoint" })));
    let lease = log.of_run(1500, "task.claimed", task(json!({ "owner": "coder", "attempt": 1 })));
    log.of_run(1600, "effect.started", task(json!({ "kind": "agent", "lease": lease })));
    let usage = json!({ "input_tokens": 12, "output_tokens": 30, "model": "m-1" });
    let ended = json!({ "kind": "agent", "lease": lease, "exit_code": 0, "usage": usage });
    log.of_run(3000, "effect.finished", task(ended));
    log.of_run(3100, "result.submitted", task(json!({ "lease": lease })));
    let found = json!({ "criterion": "AC-1", "kind": "test", "status": "FAIL", "took_ms": 40, "exit_code": 1 });
    log.of_run(4000, "evidence.collected", task(found));
    let verdict = json!({ "validator": "builtin", "verdict": "FAIL", "results": { "AC-1": "FAIL" }, "round": 0 });
    log.of_run(4000, "gate.validated", task(verdict));
    let failed = json!({ "code": "ACCEPTANCE_FAILED", "failed": true, "lease": lease, "to": "blocked" });
    log.of_run(4000, "task.blocked", task(failed));
    log.of_run(4000, "task.requeued", task(json!({ "to": "todo" })));
    let lease = log.of_run(5000, "task.claimed", task(json!({ "owner": "coder", "attempt": 2 })));
    log.of_run(5100, "result.submitted", task(json!({ "lease": lease })));
    let verdict = json!({ "validator": "builtin", "verdict": "PASS", "results": { "AC-1": "PASS" }, "round": 1 });
    log.of_run(6000, "gate.validated", task(verdict));
    let asked =
        json!({ "code": "MISSING_VALIDATOR", "failed": false, "escalated": true, "lease": lease, "to": "blocked" });
    log.of_run(6000, "task.blocked", task(asked));
    let verdict = json!({ "validator": "person", "verdict": "PASS", "results": { "AC-1": "PASS" }, "round": 1 });
    log.of_run(9000, "gate.validated", task(verdict));
    let lease = log.of_run(9500, "task.claimed", task(json!({ "owner": "coder", "attempt": 2 })));
    let asked = json!({ "kind": "judge", "lease": lease, "who": "endpoint" });
    log.of_run(9510, "effect.started", task(asked.clone()));
    let mut answered = asked;
    answered["usage"] = json!({ "input_tokens": 70, "output_tokens": 8, "model": "judge-1" });
    log.of_run(9900, "effect.finished", task(answered));
    log.of_run(9900, "gate.judged", task(json!({ "by": "judge-1", "verdict": "PASS" })));
    log.of_run(9940, "evidence.collected", task(json!({ "criterion": "AC-1", "kind": "test", "status": "PASS" })));
    log.of_run(9950, "effect.started", task(json!({ "kind": "landing", "lease": lease })));
    let done = json!({ "lease": lease, "to": "done", "assurance": "verified", "gated": true, "commit": "9fceb02" });
    log.of_run(10_000, "task.completed", task(done));
    log.of_run(10_100, "run.closed", json!({ "run": RUN }));
    log
}

/// Name, what it is inside of, from when to when, and the code that it failed with.
type Row<'a> = (&'a str, &'a str, i64, i64, Option<&'a str>);

#[test]
fn a_run_is_told_as_its_tasks_attempts_agents_and_gates() {
    let spans = story().spans();
    let names: BTreeMap<_, _> = spans.iter().map(|span| (span.id, span.name.as_str())).collect();
    let rows: Vec<Row<'_>> = spans
        .iter()
        .map(|span| {
            let parent = span.parent.map_or("", |parent| names[&parent]);
            (span.name.as_str(), parent, span.begun, span.ended.unwrap(), span.failed.as_deref())
        })
        .collect();
    let expected: Vec<Row<'_>> = vec![
        ("invoke_agent coder", "attempt 1", 1600, 3000, None),
        ("validate builtin", "attempt 1", 3100, 4000, Some("ACCEPTANCE_FAILED")),
        ("attempt 1", "task T-1", 1500, 4000, Some("ACCEPTANCE_FAILED")),
        ("invoke_agent coder", "attempt 2", 5000, 5100, None),
        ("validate builtin", "attempt 2", 5100, 6000, None),
        ("attempt 2", "task T-1", 5000, 6000, None),
        ("validate person", "task T-1", 6000, 9000, None),
        ("judge judge-1", "attempt 2", 9500, 9900, None),
        ("land", "attempt 2", 9950, 10_000, None),
        ("attempt 2", "task T-1", 9500, 10_000, None),
        ("task T-1", "invoke_workflow", 1500, 10_000, None),
        ("invoke_workflow", "", 1000, 10_100, None),
    ];
    assert_eq!(rows, expected);
    let said = |at: usize, name: &str| spans[at].attribute(name).cloned();
    assert_eq!(said(0, "gen_ai.usage.input_tokens"), Some(Worth::Count(12)));
    assert_eq!(said(0, "gen_ai.usage.output_tokens"), Some(Worth::Count(30)));
    assert_eq!(spans[0].said("gen_ai.response.model"), Some("m-1"));
    assert_eq!(spans[0].said("gen_ai.conversation.id"), Some(RUN));
    assert_eq!(spans[7].said("gen_ai.operation.name"), Some("chat"));
    assert_eq!(said(7, "gen_ai.usage.input_tokens"), Some(Worth::Count(70)));
    assert_eq!(spans[8].points.len(), 1, "what was checked once more belongs to the landing");
    assert_eq!(said(10, "countersign.task.waited_ms"), Some(Worth::Count(500)));
    assert_eq!(spans[11].trace.to_string(), RUN.replace('-', ""));
    let points: Vec<&str> = spans[1].points.iter().map(|point| point.name).collect();
    assert_eq!(points, ["countersign.evidence", "gen_ai.evaluation.result"]);
}

#[test]
fn the_plan_says_which_model_was_asked_for() {
    let log = story();
    let mut weaver = Weaver::new("p");
    let mut spans = Vec::new();
    for told in log.told() {
        spans.extend(weaver.tell(&told));
        if told.kind == "plan.adopted" {
            let named = BTreeMap::from([("coder".to_owned(), (Some("m-0".to_owned()), Some("anthropic")))]);
            weaver.cast(RUN, Agents { named, judge: Some("m-2".to_owned()) });
        }
    }
    assert_eq!(spans[0].said("gen_ai.request.model"), Some("m-0"));
    assert_eq!(spans[0].said("gen_ai.provider.name"), Some("anthropic"));
    assert_eq!(spans[7].said("gen_ai.request.model"), Some("m-2"));
}

#[test]
fn the_two_sides_of_a_handoff_are_linked_in_the_trace_that_it_names() {
    let mut log = Log::default();
    let trace = "550e8400-e29b-41d4-a716-446655440000";
    let sent = |step: u64, after: Value| {
        json!({ "trace": trace, "step": step, "source": "planner", "target": "builder", "chain": ["planner"], "tokens": 9,
                "after": after })
    };
    log.add(10, None, "handoff.sent", sent(1, Value::Null));
    log.add(20, None, "handoff.received", json!({ "trace": trace, "step": 1, "skill": "builder" }));
    log.add(30, Some(RUN), "handoff.sent", sent(2, json!(1)));
    let spans = log.spans();
    let ids: Vec<_> = spans.iter().map(|span| span.id).collect();
    let links: Vec<Vec<_>> =
        spans.iter().map(|span| span.links.iter().map(|link| (link.span, link.relation)).collect()).collect();
    let run = run::Run::root(trace_of(RUN), RUN);
    assert_eq!(links, [vec![], vec![(ids[0], "sent_as")], vec![(ids[1], "goes_on_from"), (run, "of_run")]]);
    for span in &spans {
        assert_eq!(span.trace.to_string(), trace.replace('-', ""));
        assert_eq!(span.said("countersign.handoff.trace_id"), Some(trace));
    }
}

#[test]
fn a_delegated_action_is_told_by_itself_or_in_its_run() {
    let mut log = Log::default();
    let mut received = json!({ "instruction_id": "DI-1", "action": "CREATE_BRANCH", "executor": "git", "errors": 0 });
    let answered =
        json!({ "instruction_id": "DI-1", "status": "FAILURE", "error_type": "PERMISSION", "response_id": "DR-1" });
    log.add(10, None, "delegation.received", received.clone());
    log.add(12, None, "delegation.started", json!({ "instruction_id": "DI-1" }));
    log.add(30, None, "delegation.answered", answered.clone());
    log.of_run(40, "run.opened", json!({ "run": RUN }));
    log.of_run(45, "delegation.planned", json!({ "run": RUN, "task": "T-1", "instruction_id": "DI-1" }));
    log.of_run(50, "task.claimed", json!({ "run": RUN, "task": "T-1", "owner": "lead", "attempt": 1 }));
    received["run"] = json!(RUN);
    received["task"] = json!("T-1");
    log.of_run(60, "delegation.received", received);
    log.of_run(70, "delegation.answered", answered);
    let ended = |to: &str| json!({ "run": RUN, "task": "T-1", "attempt": 1, "gated": true, "to": to });
    log.of_run(80, "task.blocked", ended("blocked"));
    log.of_run(85, "task.claimed", json!({ "run": RUN, "task": "T-1", "owner": "lead", "attempt": 2 }));
    log.of_run(90, "task.completed", ended("done"));
    let spans = log.spans();
    // No agent works on an action, and nothing lands.
    let [alone, inside, first, second, task] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!([&first.name, &second.name, &task.name], ["attempt 1", "attempt 2", "task T-1"]);
    assert_eq!((alone.parent, alone.begun, alone.ended), (None, 10, Some(30)));
    assert_eq!(alone.failed.as_deref(), Some("PERMISSION"));
    assert_eq!(alone.said("gen_ai.tool.name"), Some("CREATE_BRANCH"));
    assert_eq!(inside.trace, trace_of(RUN));
    assert_eq!((inside.parent, first.parent), (Some(first.id), Some(task.id)));
}

/// Tasks that go through random steps under a clock that may go back.
fn random(steps: &[(u8, u8, i16)]) -> Log {
    #[derive(Clone, Default)]
    struct State {
        lease: Option<u64>,
        over: bool,
    }
    let mut log = Log::default();
    let mut states = vec![State::default(); 4];
    let mut at = 1_800_000_000_000;
    log.of_run(at, "run.opened", json!({ "run": RUN, "policy": "gates" }));
    for n in 0..states.len() {
        log.of_run(at, "task.added", json!({ "run": RUN, "task": format!("T-{n}") }));
    }
    for (task, step, tick) in steps {
        at += i64::from(*tick);
        let n = usize::from(*task) % states.len();
        let state = &mut states[n];
        let mut facts = json!({ "run": RUN, "task": format!("T-{n}"), "owner": "coder", "attempt": 1 });
        let mut tell = |kind: &'static str, more: Value| {
            let mut facts = facts.take();
            facts.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            log.of_run(at, kind, facts)
        };
        match (step % 12, state.lease, state.over) {
            (_, _, true) => {}
            (0..4, None, _) => state.lease = Some(tell("task.claimed", json!({}))),
            (4, None, _) => drop(tell("gate.validated", json!({ "validator": "person", "verdict": "PASS" }))),
            (5, None, _) => {
                state.over = true;
                tell("task.canceled", json!({ "to": "canceled" }));
            }
            (_, None, _) => {}
            (0, Some(lease), _) => drop(tell("effect.started", json!({ "kind": "agent", "lease": lease }))),
            (1, Some(lease), _) => drop(tell("effect.finished", json!({ "kind": "agent", "lease": lease }))),
            (2, Some(lease), _) => drop(tell("result.submitted", json!({ "lease": lease }))),
            (3, Some(_), _) => drop(tell("gate.validated", json!({ "validator": "builtin", "verdict": "PASS" }))),
            (4, Some(_), _) => drop(tell("gate.judged", json!({ "by": "j", "verdict": "FAIL" }))),
            (5, Some(lease), _) => drop(tell("effect.started", json!({ "kind": "landing", "lease": lease }))),
            (6, Some(lease), _) => drop(tell("effect.finished", json!({ "kind": "landing", "lease": lease }))),
            (7, Some(lease), _) => drop(tell("effect.finished", json!({ "kind": "agent", "lease": lease - 1 }))),
            (8 | 9, Some(lease), _) => {
                state.lease = None;
                tell(
                    "task.blocked",
                    json!({ "lease": lease, "failed": true, "code": "TASK_TIMEOUT", "to": "blocked" }),
                );
            }
            (10, Some(lease), _) => {
                (state.lease, state.over) = (None, true);
                tell("task.completed", json!({ "lease": lease, "gated": true, "to": "done" }));
            }
            (_, Some(lease), _) => {
                (state.lease, state.over) = (None, true);
                tell("task.failed", json!({ "lease": lease, "code": "NON_COMPLIANT", "to": "failed" }));
            }
        }
    }
    log
}

fn steps() -> impl Strategy<Value = Vec<(u8, u8, i16)>> {
    proptest::collection::vec((any::<u8>(), any::<u8>(), -50_i16..2000), 0..120)
}

proptest! {
    #[test]
    fn spans_lie_within_each_other_and_every_ended_task_has_one(steps in steps(), closed: bool) {
        let mut log = random(&steps);
        if closed {
            log.of_run(0, "run.closed", json!({ "run": RUN }));
        }
        let mut weaver = Weaver::new("p");
        let ended: Vec<Span> = log.told().flat_map(|told| weaver.tell(&told)).collect();
        let all: Vec<Span> = ended.iter().cloned().chain(weaver.going_on(RUN)).collect();
        let by_id: BTreeMap<_, _> = all.iter().map(|span| (span.id, span)).collect();
        prop_assert_eq!(by_id.len(), all.len(), "two spans have one id");
        for span in &all {
            prop_assert!(span.ended.is_none_or(|ended| ended >= span.begun), "{:?}", span);
            let Some(parent) = span.parent else { continue };
            let parent = by_id[&parent];
            prop_assert!(parent.begun <= span.begun, "{:?} in {:?}", span, parent);
            prop_assert!(parent.ended.is_none_or(|end| span.ended.is_some_and(|it| it <= end)), "{:?} in {:?}", span, parent);
        }
        let over = log.0.iter().filter(|it| ["task.completed", "task.failed", "task.canceled"].contains(&it.kind));
        for task in over.map(|it| it.facts["task"].as_str().unwrap()) {
            let name = format!("task {task}");
            prop_assert_eq!(ended.iter().filter(|span| span.name == name).count(), 1, "{}", task);
        }
        prop_assert_eq!(ended.iter().filter(|span| span.parent.is_none()).count(), usize::from(closed));
    }

    #[test]
    fn whoever_begins_in_the_middle_gives_the_same_from_there_on(steps in steps(), at in any::<prop::sample::Index>()) {
        let log = random(&steps);
        let mut whole = Weaver::new("p");
        let told: Vec<Told<'_>> = log.told().collect();
        let cut = at.index(told.len());
        let spans: Vec<Vec<Span>> = told.iter().map(|it| whole.tell(it)).collect();
        // What came before is told again, and what ended then is not sent again.
        let mut again = Weaver::new("p");
        for it in &told[..cut] {
            again.tell(it);
        }
        let rest: Vec<Vec<Span>> = told[cut..].iter().map(|it| again.tell(it)).collect();
        prop_assert_eq!(&spans[cut..], &rest[..]);
    }

    #[test]
    fn whatever_the_facts_are_nothing_breaks_and_no_sentence_goes_out(
        kind in 0..20_usize, text in ".{0,40}", number in any::<u64>(),
    ) {
        let kinds = [
            "run.opened", "task.added", "task.claimed", "effect.started", "effect.finished", "result.submitted",
            "evidence.collected", "gate.validated", "gate.judged", "gate.accepted", "task.blocked", "task.timed_out",
            "task.completed", "task.failed", "task.canceled", "delegation.received", "delegation.answered",
            "handoff.sent", "handoff.received", "run.closed",
        ];
        let facts = json!({
            "run": text, "task": text, "owner": text, "lease": number, "kind": text, "validator": text, "by": text,
            "verdict": text, "results": { text.clone(): text }, "code": text, "to": text, "trace": text, "step": number,
            "source": text, "target": text, "skill": text, "instruction_id": text, "action": text, "status": text,
            "usage": { "model": text, "input_tokens": text, "output_tokens": number }, "policy": text, "reason": text,
        });
        let mut log = story();
        log.0.truncate(5);
        log.of_run(2000, kinds[kind], facts.clone());
        log.add(2000, None, kinds[kind], facts.clone());
        log.of_run(2000, "delegation.answered", facts);
        let spans = log.spans();
        let plain = |word: &str| word.chars().all(|it| it.is_ascii_alphanumeric() || "._:/@+- ".contains(it));
        let mut words: BTreeSet<&str> = spans.iter().map(|span| span.name.as_str()).collect();
        let attributes = spans.iter().flat_map(|span| {
            span.attributes.iter().chain(span.points.iter().flat_map(|point| point.attributes.iter()))
        });
        words.extend(attributes.filter_map(|(_, worth)| match worth { Worth::Word(word) => Some(word.as_str()), _ => None }));
        prop_assert!(words.iter().all(|word| plain(word)), "{:?}", words);
    }
}
