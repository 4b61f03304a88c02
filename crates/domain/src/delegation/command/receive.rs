//! Receiving an instruction: it is checked, and the ids of its response and its audit entry are reserved.

use super::compose::{self, Case, What};
use super::header::Header;
use super::{
    Begin, DelegationAnswer, ExecutorKind, VIEWS, Written, bypassing, chain, delegation_answer, fields, happening,
};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Observer, Refusal, Role, Seen, Writes,
};
use crate::delegation::event::DELEGATION_RECEIVED;
use crate::delegation::payload::{
    AuditEntryId, DelegationInstruction, InstructionId, ValidationError, date_in_id, number_in_id,
};
use crate::delegation::policy::{self, Claim};
use crate::delegation::row::{DelegationRow, day_key, delegation_key, delegation_of};
use crate::delegation::standing::{Action, Planned, Standing, came_before};
use crate::delegation::trying;
use crate::ids::{RunId, TaskId};
use countersign_contract::diagnostic::{Code, Source};
use countersign_contract::{
    Checked, Checker, Contract as _, List, Outside, Request, Text, Timestamp, Untrusted, canonical, check, parse,
    redact_value, shape,
};
use serde_json::{Value, json};

shape! {
    /// Receive an instruction. What is wrong with it is kept with it, and it is answered all the same. One that came
    /// before changes nothing; another under its id is refused.
    pub closed struct Receive {
        /// The name of the file it came from.
        pub file: Text<1, 1000> = "instruction.yaml",
        /// The instruction as it was written.
        pub instruction: Written = "{}",
        /// Who is to carry it out.
        pub executor: ExecutorKind,
        /// Why the executor cannot, as far as it knows before it acts.
        pub obstacles: Option<List<ValidationError>>,
        /// The last audit entry of today that lies in the repository already, whoever wrote it: what is reserved comes after it.
        pub taken: Option<AuditEntryId>,
        /// The run, if it belongs to a plan.
        pub run_id: Option<RunId>,
        /// The task of the plan. Its instruction must be this one, and approved if that is asked for.
        pub task_id: Option<TaskId>,
        /// How whoever hands it in is about to act on it: one that is new and can be carried out is begun as it comes, so that
        /// both are recorded at once. Whatever else is handed in is not begun by this.
        pub begin: Option<Begin>,
    }
}

impl Receive {
    fn action(&self) -> Option<Action<'_>> {
        Some(Action { run: self.run_id.as_ref(), task: self.task_id.as_ref()? })
    }

    /// Refuses an instruction that was received before for something else than this task.
    fn must_be_its_own(&self, desk: &Desk, row: &DelegationRow) -> Result<(), Refusal> {
        let Some(action) = self.action() else { return Ok(()) };
        let planned = action.seen(desk.seen())?;
        if row.belongs_to(&planned.run.run, &planned.task.task) {
            return Ok(());
        }
        let help = "cancel the task, and start a plan with the instruction under a new id";
        Err(Refusal::new(Code::CorrelationMismatch, came_before(row), help).of_run(&planned.run.run))
    }

    /// Refuses an instruction that is not what the plan has, or that a person has not approved.
    fn must_be_planned(&self, desk: &Desk, digest: &str) -> Result<Option<Planned>, Refusal> {
        let Some(action) = self.action() else { return Ok(None) };
        let planned = action.seen(desk.seen())?;
        planned.must_lead(desk)?;
        let number = match planned.standing(desk.seen(), desk.moment().now_ms) {
            Standing::Act(number) => number,
            Standing::Ask => {
                let help = "`countersign inbox` shows what is asked";
                return Err(Refusal::new(Code::AuthorizationMissing, planned.question(), help).of_run(&planned.run.run));
            }
            _ => {
                let reason = format!("{} is not to be acted on now", planned.task.task);
                return Err(
                    Refusal::new(Code::InvalidTransition, reason, "look how it stands").of_run(&planned.run.run)
                );
            }
        };
        if planned.digest_of(number) != Some(digest) {
            let reason = format!("this is not the instruction of {}", planned.task.task);
            let help = "hand in what `delegation.task` shows";
            return Err(Refusal::new(Code::IntegrityMismatch, reason, help).of_run(&planned.run.run));
        }
        Ok(Some(planned))
    }

    /// What it does, by every name that a plan may have for it.
    fn deeds(&self, instruction: &Value) -> Vec<String> {
        let here = (self.executor == ExecutorKind::Git).then(|| trying::deed_here(instruction));
        [trying::deed(instruction)].into_iter().chain(here).collect()
    }

    /// What it is found by.
    fn named(&self, text: &str) -> Option<Named> {
        use countersign_contract::{Form, SIZE_MAX_LIMIT};
        let form = Form::of_name(self.file.as_str()).unwrap_or_else(|| Form::of_text(text));
        let value = parse(text, form, SIZE_MAX_LIMIT).ok()?.root().to_value();
        Some(Named {
            id: value["INSTRUCTION_ID"].as_str()?.to_owned(),
            deeds: self.deeds(&value),
            end: trying::end(&value),
            concern: trying::concern(&value),
        })
    }

    fn checked(&self, observer: &dyn Observer, text: &str) -> Checked {
        let (outside, checker) = (observer.outside(), observer.checker());
        let name = self.file.as_str();
        let contract = Some(DelegationInstruction::NAME);
        let request = Request { contract, ..Request::alone(Source { name, text }, &outside) };
        let first = check(&checker, &request);
        match observer.look_for_files(&first, name) {
            Some(outside) => check(&checker, &Request { outside: &outside, ..request }),
            None => first,
        }
    }

    fn looked_at(&self, observer: &dyn Observer, text: &str) -> Result<Observed, Refusal> {
        let checker = observer.checker();
        let outside = observer.outside();
        let checked = self.checked(observer, text);
        let unanswerable = |why: &str| {
            let code = checked.decision.code.unwrap_or(Code::SchemaInvalid);
            let reason = format!("`{}` cannot be answered: {why}", countersign_contract::show(self.file.as_str()));
            let refusal = Refusal::new(code, reason, "`countersign check` shows everything that is wrong with it");
            Refusal { findings: checked.decision.details.diagnostics.clone(), ..refusal }
        };
        let form = Request::alone(Source { name: self.file.as_str(), text }, &outside).form();
        let document = parse(text, form, checker.settings.size_max).map_err(|_| unanswerable("it cannot be read"))?;
        let mut value = document.root().to_value();
        let header = Header::read(&value, &checker).ok_or_else(|| {
            unanswerable("its `INSTRUCTION_ID` is missing or wrong, so that there is nobody to answer to")
        })?;
        let now = outside.now.ok_or_else(|| unanswerable("the time is not known"))?;
        let mut errors = fields::errors(&checked.decision.details.diagnostics, header.action);
        errors.extend(header.given.as_ref().and_then(|given| yet_to_come(given, now)));
        errors.extend(self.obstacles.iter().flat_map(|it| it.iter()).map(|it| json!(it)));
        if errors.is_empty() {
            errors = unrecordable(&checker, &outside, &header, &value);
        }
        fields::leave_orders_out(&mut errors);
        let lacks = lacks(&checked);
        let digest = trying::digest(&value);
        let (deeds, end, concern) = (self.deeds(&value), trying::end(&value), trying::concern(&value));
        redact_value(&mut value);
        let (mut kept, mut errors) = (header.kept.clone(), json!(errors));
        redact_value(&mut kept);
        redact_value(&mut errors);
        let facts = json!({
            "action": header.action_word(), "deeds": deeds, "digest": digest, "end": end, "concern": concern,
            "instruction_id": header.id, "lacks": lacks, "repository": header.repository_word(), "errors": errors,
            "header": kept, "instruction": canonical(&value),
        });
        let errors = errors.as_array().map_or(&[][..], Vec::as_slice);
        if !errors.is_empty() {
            // The answer is tried before it is promised.
            let case = Case::trial(header.id.as_str(), header.action_word(), &kept);
            let context = checked.is_context().then(|| canonical(&value));
            compose::checked(&checker, &outside, &case, &What::Invalid(errors), context.as_deref())
                .map_err(|why| unanswerable(&why.reason))?;
        }
        Ok(Observed { facts, findings: warnings(checked), ..Observed::default() })
    }
}

/// What of an instruction that may be carried out could not be put on record afterwards. It is answered so before anything is done:
/// what was done must have an entry.
fn unrecordable(checker: &Checker<'_>, outside: &Outside, header: &Header, value: &Value) -> Vec<Value> {
    let case = Case::trial(header.id.as_str(), header.action_word(), &header.kept);
    let context = canonical(value);
    let least = compose::least(checker, outside.now.unwrap_or_default());
    let tried = match &least {
        Some(least) => compose::checked(checker, outside, &case, &What::Acted(least), Some(&context)),
        None => return vec![unkept("ACTION", "nothing that is done here could be recorded")],
    };
    let Err(why) = tried else { return Vec::new() };
    let found = fields::errors(&why.findings, header.action);
    let said = |it: &Value| unkept(it["FIELD"].as_str().unwrap_or("ACTION"), it["ERROR"].as_str().unwrap_or_default());
    if found.is_empty() { vec![unkept("ACTION", &why.reason)] } else { found.iter().map(said).collect() }
}

fn unkept(field: &str, why: &str) -> Value {
    json!({
        "FIELD": field, "ERROR": format!("if it were done, it could not be put on record: {why}"),
        "EXPECTED": "what an audit entry can have there",
    })
}

/// What is said of a time that is yet to come: an answer cannot be later than it.
fn yet_to_come(given: &Timestamp, now: jiff::Timestamp) -> Option<Value> {
    (given.instant().as_second() > now.as_second()).then(|| {
        json!({
            "FIELD": "TIMESTAMP_UTC", "ERROR": format!("it was given at `{}`, which is yet to come", given.as_str()),
            "EXPECTED": "a time that has passed; see whether the clocks agree",
        })
    })
}

/// Whether the instruction lacks authority.
fn lacks(checked: &Checked) -> bool {
    let record = checked.records.first().and_then(|record| record.downcast_ref::<DelegationInstruction>());
    record.is_some_and(|record| policy::first_lack(&Claim::of_instruction(record)).is_some())
}

fn warnings(checked: Checked) -> Vec<countersign_contract::diagnostic::Diagnostic> {
    use countersign_contract::diagnostic::Severity;
    checked.decision.details.diagnostics.into_iter().filter(|it| it.severity != Severity::Error).collect()
}

/// The day of the ledger's clock.
fn today(moment: &Moment) -> &str {
    moment.now.get(..10).unwrap_or_default()
}

impl Command for Receive {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.receive",
        summary: "Receive an instruction, and reserve the ids of its answer",
        may: &[Role::Orchestrator],
        invalidates: VIEWS,
        refuses: Code::ALL,
        writes: Writes::Events,
    };
    type Answer = DelegationAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        self.instruction.inspect(|text| self.looked_at(observer, text))
    }

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let planned = self.action().map(|action| action.needs(seen)).unwrap_or_default();
        // The id stands in a text that was read outside; it is found here by the same reader.
        let found = self.instruction.inspect(|text| self.named(text));
        let mut needs = vec![Need::Entity(day_key(today(moment)))];
        if let Some(named) = found {
            needs.push(Need::Entity(delegation_key(&named.id)));
            if self.task_id.is_none() {
                needs.extend(bypassing::needs(seen, &named.id, &named.deeds));
                needs.extend(chain::needs(seen, &named.end));
                needs.extend(chain::concern_needs(seen, &named.concern));
            }
        }
        needs.into_iter().chain(planned).collect()
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let facts = &observed.facts;
        let text = |name: &str| facts[name].as_str().unwrap_or_default();
        let (id, digest) = (text("instruction_id"), text("digest"));
        let deeds: Vec<String> = serde_json::from_value(facts["deeds"].clone()).unwrap_or_default();
        if let Some(row) = delegation_of(desk.entity(&delegation_key(id))) {
            if row.digest != digest {
                let reason = format!("another instruction came under {id} before, in event {}", row.received);
                return Err(Refusal::new(Code::CorrelationMismatch, reason, "give each instruction an id of its own"));
            }
            if self.task_id.is_none() && row.answered.is_none() {
                bypassing::must_not_bypass(desk, id, &deeds)?;
            }
            return self.must_be_its_own(desk, &row);
        }
        if self.task_id.is_none() {
            bypassing::must_not_bypass(desk, id, &deeds)?;
            let is_wrong = facts["errors"].as_array().is_some_and(|errors| !errors.is_empty());
            chain::must_be_free(desk, id, text("end"), is_wrong)?;
            if !is_wrong {
                chain::must_be_settled(desk, id, text("end"), text("concern"))?;
            }
        }
        let planned = self.must_be_planned(desk, digest)?;
        let day = today(desk.moment()).to_owned();
        let count = desk.entity(&day_key(&day)).and_then(|found| found.facts["count"].as_u64()).unwrap_or(0);
        // Another copy of the repository has a ledger of its own, which counts for itself.
        let taken = self.taken.as_ref().filter(|id| date_in_id(id.as_str()) == day);
        let count = count.max(taken.and_then(|id| number_in_id(id.as_str())).unwrap_or(0)) + 1;
        let errors = facts["errors"].as_array().map_or(0, Vec::len);
        let mut kept = json!({
            "action": facts["action"], "audit_entry_id": format!("PAA-{day}-{count:03}"), "digest": digest,
            "end": facts["end"], "errors": errors, "executor": self.executor.as_str(), "instruction_id": id,
            "lacks": facts["lacks"], "concern": facts["concern"], "repository": facts["repository"],
            "response_id": format!("DR-{day}-{count:03}"), "valid": errors == 0,
        });
        if let Some(planned) = &planned {
            kept["run"] = json!(planned.run.run);
            kept["task"] = json!(planned.task.task);
        }
        let texts = [text("instruction").to_owned(), facts["header"].to_string(), facts["errors"].to_string()];
        let texts = texts.map(Untrusted::new).to_vec();
        let run = planned.as_ref().map(|planned| planned.run.run.as_str());
        desk.record(happening(DELEGATION_RECEIVED, run, kept).with_texts(texts));
        match (&self.begin, InstructionId::parse(id)) {
            (Some(begin), Some(id)) if errors == 0 => begin.decide(desk, &id),
            _ => Ok(()),
        }
    }

    fn answer(&self, stored: &Answered<'_>) -> DelegationAnswer {
        delegation_answer(stored)
    }
}

/// What an instruction is found by, however it is written.
struct Named {
    id: String,
    deeds: Vec<String>,
    end: String,
    concern: String,
}
