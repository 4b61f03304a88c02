//! An instruction from its text to its response.

use super::place::Place;
use super::{Attempt, Executor, Handed, Obstacle, Seen, entry, said, unrecorded};
use crate::trouble::Trouble;
use countersign_contract::diagnostic::Diagnostic;
use countersign_domain::delegation::payload::{DelegationInstruction, Status};
use countersign_domain::delegation::trying;
use countersign_engine::{Call, Engine, Failure, Reply, World};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long somebody else who acts on the same instruction elsewhere is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How much is said of what was seen.
const SAYS_MAX: usize = 1000;
/// How long is waited between looks.
const PAUSE: Duration = Duration::from_millis(100);

/// What is needed to carry an instruction out.
pub struct Setup<'a> {
    /// The ledger.
    pub engine: &'a Engine,
    /// What can be seen of the world.
    pub world: &'a dyn World,
    /// In whose name.
    pub call: &'a Call,
    /// The repository, in which audit entries are kept.
    pub root: &'a Path,
    /// The folder of this place's locks.
    pub locks: &'a Path,
    /// Who acts.
    pub executor: &'a dyn Executor,
    /// What the instruction is called.
    pub file: &'a str,
    /// The instruction as it was written.
    pub text: &'a str,
    /// The run and the task that it belongs to, if it stands in a plan.
    pub of_task: Option<(&'a str, &'a str)>,
}

/// An instruction that was answered.
#[derive(Debug)]
pub struct Answered {
    /// The response.
    pub response: Value,
    /// The file of its audit entry.
    pub entry: PathBuf,
    /// Whether it had been answered before.
    pub repeated: bool,
    /// Whether a success was looked at.
    pub looked: Looked,
    /// What is not right about the instruction, and does not stand against it.
    pub warnings: Vec<Diagnostic>,
}

/// Whether a success was looked at, and is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// It is no success.
    No,
    /// It is there.
    Found,
    /// It is not there as it was asked for. A person decides.
    Missing,
    /// It could not be looked at, and why. Handing it in again looks again.
    Unseen(String),
}

/// Carries an instruction out, once, and gives its response.
pub fn carry_out(setup: &Setup<'_>) -> Result<Answered, Trouble> {
    carry_out_handed(setup, setup.handed())
}

/// The same for one that was read before.
pub fn carry_out_handed(setup: &Setup<'_>, handed: Handed) -> Result<Answered, Trouble> {
    let Handed { instruction, valid } = handed;
    setup.watch(instruction.as_ref().filter(|_| valid))?;
    let place = Place::at(setup.locks)?;
    // Whoever is alone here receives and begins in one go. Whoever is not lets it be received, and waits for the other.
    let mut alone = instruction.as_ref().and_then(|it| place.lock_now(it.instruction_id.as_str()));
    let Received { id, begun, warnings } =
        setup.receive(instruction.as_ref(), valid, alone.as_ref().map(|_| &place))?;
    if alone.is_none() {
        alone = Some(place.lock(&id)?);
    }
    // From here on nobody else at this place acts on it.
    let _alone = alone;
    let (shown, repeated) = match (begun, &instruction) {
        (Some(begun), Some(instruction)) => (setup.acted(&id, &begun, instruction)?, false),
        _ => {
            let shown = setup.look(&id)?;
            match shown["state"] == "answered" {
                true => (shown, true),
                false => (setup.answered(&id, &shown, instruction.as_ref(), &place)?, false),
            }
        }
    };
    let document = |name: &str| {
        let text = shown[name].as_str().unwrap_or_default();
        serde_json::from_str::<Value>(text).map_err(|_| {
            format!("the {} of {id} was erased from the ledger; it cannot be shown", name.replace('_', " "))
        })
    };
    // The entry first: a response that can be read has one.
    let entry = entry::write(setup.root, &document("audit_entry")?)?;
    let response = document("response")?;
    let looked = setup.verify(&id, &shown, &response, instruction.as_ref())?;
    Ok(Answered { response, entry, repeated, looked, warnings })
}

/// An instruction that was handed in.
struct Received {
    id: String,
    /// The attempt that was begun as it came, as `delegation.start` answers; none, if it is still to be begun.
    begun: Option<Value>,
    /// What is not right about it.
    warnings: Vec<Diagnostic>,
}

impl Setup<'_> {
    fn handed(&self) -> Handed {
        Handed::read(self.world, self.file, self.text)
    }

    fn ask(&self, id: &str, request: &Value) -> Result<Value, Failure> {
        Ok(self.reply(id, request)?.answer)
    }

    fn reply(&self, id: &str, request: &Value) -> Result<Reply, Failure> {
        // Each step is a command of its own: a key of the caller's stands for the first alone.
        let call = Call { key: None, ..self.call.clone() };
        self.engine.ask(self.world, &call, id, &request.to_string())
    }

    fn look(&self, id: &str) -> Result<Value, Failure> {
        self.engine.look(self.world, self.call, "delegation.show", &json!({ "instruction_id": id }).to_string())
    }

    /// Where a constraint stood against the last instruction for the same end, looks whether it still does. The ledger takes the
    /// next one only when it does not.
    fn watch(&self, instruction: Option<&DelegationInstruction>) -> Result<(), Trouble> {
        let Some(instruction) = instruction.filter(|_| self.of_task.is_none()) else { return Ok(()) };
        let Some(end) = value_of(self.file, self.text).map(|value| trying::end(&value)) else { return Ok(()) };
        let shown = self.engine.look(self.world, self.call, "delegation.end", &json!({ "end": end }).to_string())?;
        let last = shown["last"].as_str().filter(|last| *last != instruction.instruction_id.as_str());
        let due = shown["not_before"].as_i64().is_none_or(|at| at <= jiff::Timestamp::now().as_millisecond());
        match last {
            // Only who was barred can see whether they still are.
            Some(last) if shown["step"] == "wait" && due && shown["executor"] == self.executor.kind().as_str() => {
                self.observe_constraint(last, instruction)
            }
            _ => Ok(()),
        }
    }

    /// Looks at what stands against the instruction of a plan, which was answered before, and says it.
    pub(crate) fn watch_again(&self, id: &str) -> Result<(), Trouble> {
        let instruction = self.handed().instruction.ok_or_else(|| format!("{id} cannot be read any more"))?;
        self.observe_constraint(id, &instruction)
    }

    /// Looks at what stands against an instruction, and says it.
    fn observe_constraint(&self, id: &str, instruction: &DelegationInstruction) -> Result<(), Trouble> {
        let (holds, says) = match self.executor.constraint(instruction) {
            Ok(Some(why)) => (true, why),
            Ok(None) => (false, "nothing is seen to stand against it any more".to_owned()),
            // What cannot be seen is not taken to be gone.
            Err(why) => (true, format!("it could not be looked at: {why}")),
        };
        self.observe(id, "constraint", holds, &says)
    }

    /// Looks whether a success is one, until it was found once, and says it.
    fn verify(
        &self,
        id: &str,
        shown: &Value,
        response: &Value,
        instruction: Option<&DelegationInstruction>,
    ) -> Result<Looked, Trouble> {
        if response["STATUS"] != Status::Success.as_str() {
            return Ok(Looked::No);
        }
        if shown["found"] == true {
            return Ok(Looked::Found);
        }
        let Some(instruction) = instruction.filter(|_| shown["executor"] == self.executor.kind().as_str()) else {
            return Ok(Looked::Unseen("it was carried out by another executor, which looks".to_owned()));
        };
        match self.executor.verify(instruction, response) {
            Ok(Seen { holds, says }) => {
                self.observe(id, "outcome", holds, &says)?;
                Ok(if holds { Looked::Found } else { Looked::Missing })
            }
            Err(why) => Ok(Looked::Unseen(why)),
        }
    }

    fn observe(&self, id: &str, about: &str, holds: bool, says: &str) -> Result<(), Trouble> {
        let says = said::told(says, SAYS_MAX);
        let request = json!({ "instruction_id": id, "about": about, "holds": holds, "says": says });
        self.ask("delegation.observe", &request)?;
        Ok(())
    }

    /// Hands the instruction in. One that is new is begun with that, by whoever holds its lock at a place.
    fn receive(
        &self,
        instruction: Option<&DelegationInstruction>,
        valid: bool,
        alone_at: Option<&Place>,
    ) -> Result<Received, Trouble> {
        // What came before is not looked into again: it may be that it was done since.
        let fresh = instruction.filter(|it| self.look(it.instruction_id.as_str()).is_err());
        if instruction.is_none() || fresh.is_some() {
            entry::must_have_a_place(self.root, &super::now())?;
        }
        let obstacles = fresh.map(|it| self.executor.obstacles(it, valid)).unwrap_or_default();
        let mut request =
            json!({ "file": self.file, "instruction": self.text, "executor": self.executor.kind().as_str() });
        if let (Some(fresh), Some(place)) = (fresh.filter(|_| valid && obstacles.is_empty()), alone_at) {
            request["begin"] = self.begin_at(place, self.executor.before(fresh).as_deref());
        }
        if !obstacles.is_empty() {
            request["obstacles"] = obstacles.iter().map(Obstacle::to_value).collect();
        }
        if let Some((run, task)) = self.of_task {
            request["run_id"] = json!(run);
            request["task_id"] = json!(task);
        }
        if let Some(last) = entry::last_of(self.root, &super::now()) {
            request["taken"] = json!(last);
        }
        let Reply { answer, findings: warnings, .. } = self.reply("delegation.receive", &request)?;
        let told = answer["instruction_id"].as_str().map(str::to_owned);
        // One that came before is not said again; then its shape could be read, or at least its id.
        let known = || instruction.map(|it| it.instruction_id.to_string()).or_else(|| id_in(self.file, self.text));
        let id = told.or_else(known).ok_or_else(|| Trouble::Failed("the instruction has no id".to_owned()))?;
        let begun = answer["attempt"].is_u64().then_some(answer);
        Ok(Received { id, begun, warnings })
    }

    /// How somebody is about to act who holds the lock of the instruction at a place.
    fn begin_at(&self, place: &Place, before: Option<&str>) -> Value {
        let mut begin = json!({ "place": place.name, "seconds": self.executor.seconds() });
        if let Some(before) = before {
            begin["before"] = json!(before);
        }
        begin
    }

    /// Acts if that is to be done, records what came of it, and gives how the instruction stands then.
    fn answered(
        &self,
        id: &str,
        shown: &Value,
        instruction: Option<&DelegationInstruction>,
        place: &Place,
    ) -> Result<Value, Trouble> {
        if shown["valid"] != true {
            self.record(json!({ "instruction_id": id, "agent_instance_id": self.call.actor }))?;
            return Ok(self.look(id)?);
        }
        let instruction = instruction.ok_or_else(|| format!("{id} is not the instruction that was received"))?;
        let kind = self.executor.kind().as_str();
        if shown["executor"] != kind {
            let other = shown["executor"].as_str().unwrap_or("another");
            return Err(format!("{id} was given to {other} before, which must end it; name that executor").into());
        }
        let is_first = shown["state"] == "received";
        let before = is_first.then(|| self.executor.before(instruction)).flatten();
        match self.begin(id, place, before.as_deref())? {
            Some(begun) => self.acted(id, &begun, instruction),
            None => Ok(self.look(id)?),
        }
    }

    /// Acts, records what came of it, and gives how the instruction stands then.
    fn acted(&self, id: &str, begun: &Value, instruction: &DelegationInstruction) -> Result<Value, Trouble> {
        let first = begun["first"].as_i64().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        let attempt = Attempt { again: begun["again"] == true, before: begun["before"].as_str(), first };
        let acted = self.executor.act(instruction, &attempt).map_err(|why| {
            format!("what became of {id} is not known: {why}. Delegate it again: it is looked for, and not done twice")
        })?;
        let mut answer = json!({
            "instruction_id": id, "agent_instance_id": self.call.actor, "attempt": begun["attempt"], "acted": acted,
        });
        // What was seen there then is said with the answer, and need not be looked at again.
        if let Some(Seen { holds, says }) = self.executor.saw(instruction) {
            answer["seen"] = json!({ "holds": holds, "says": said::told(&says, SAYS_MAX) });
        }
        self.record(answer)?;
        Ok(self.look(id)?)
    }

    /// Records what came of it. What was acted on has an answer, whatever was said about it.
    fn record(&self, mut answer: Value) -> Result<(), Failure> {
        let Err(failure) = self.ask("delegation.answer", &answer) else { return Ok(()) };
        let acted = answer.get("acted").and_then(|acted| unrecorded::instead_of(acted, &failure));
        answer["acted"] = acted.ok_or(failure)?;
        // What cannot be recorded is no success that was seen.
        answer.as_object_mut().and_then(|answer| answer.remove("seen"));
        self.ask("delegation.answer", &answer)?;
        Ok(())
    }

    /// Says that it will act. None, if somebody elsewhere did meanwhile and has answered.
    fn begin(&self, id: &str, place: &Place, before: Option<&str>) -> Result<Option<Value>, Trouble> {
        let mut request = self.begin_at(place, before);
        request["instruction_id"] = json!(id);
        let until = Instant::now() + PATIENCE;
        loop {
            match self.ask("delegation.start", &request) {
                Ok(begun) => return Ok(Some(begun)),
                Err(Failure::Refused(_)) if self.look(id)?["state"] == "answered" => return Ok(None),
                Err(Failure::Refused(refusal))
                    if refusal.code.as_str() == "CONCURRENCY_CONFLICT" && Instant::now() < until =>
                {
                    std::thread::sleep(PAUSE);
                }
                Err(failure) => return Err(failure.into()),
            }
        }
    }
}

/// The id in an instruction that is wrong otherwise.
fn id_in(file: &str, text: &str) -> Option<String> {
    Some(value_of(file, text)?["INSTRUCTION_ID"].as_str()?.to_owned())
}

/// An instruction as it was written.
fn value_of(file: &str, text: &str) -> Option<Value> {
    use countersign_contract::{Form, SIZE_MAX_LIMIT, parse};
    let form = Form::of_name(file).unwrap_or_else(|| Form::of_text(text));
    Some(parse(text, form, SIZE_MAX_LIMIT).ok()?.root().to_value())
}
