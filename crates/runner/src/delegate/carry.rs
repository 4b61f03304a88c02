//! An instruction from its text to its response.

use super::place::Place;
use super::{Executor, Obstacle, entry};
use countersign_contract::diagnostic::Source;
use countersign_contract::{Outside, Request, check};
use countersign_domain::delegation::payload::DelegationInstruction;
use countersign_engine::{Call, Engine, Failure, World};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long somebody else who acts on the same instruction elsewhere is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
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
}

/// Why there is no response.
#[derive(Debug)]
pub enum Trouble {
    /// The engine refused.
    Refused(Box<Failure>),
    /// Something could not be done.
    Failed(String),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Refused(Box::new(failure))
    }
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// Carries an instruction out, once, and gives its response.
pub fn carry_out(setup: &Setup<'_>) -> Result<Answered, Trouble> {
    let instruction = read(setup);
    let id = setup.receive(instruction.as_ref())?;
    let place = Place::at(setup.locks)?;
    // From here on nobody else at this place acts on it.
    let _alone = place.lock(&id)?;
    let shown = setup.look(&id)?;
    let repeated = shown["state"] == "answered";
    let shown = if repeated { shown } else { setup.answered(&id, &shown, instruction.as_ref(), &place)? };
    let document = |name: &str| {
        let text = shown[name].as_str().unwrap_or_default();
        serde_json::from_str::<Value>(text).map_err(|_| {
            format!("the {} of {id} was erased from the ledger; it cannot be shown", name.replace('_', " "))
        })
    };
    // The entry first: a response that can be read has one.
    let entry = entry::write(setup.root, &document("audit_entry")?)?;
    Ok(Answered { response: document("response")?, entry, repeated })
}

/// The instruction, if its shape can be read. Whether it is valid is for the domain to say.
fn read(setup: &Setup<'_>) -> Option<DelegationInstruction> {
    let outside = Outside::default();
    let request = Request {
        contract: Some("delegation_instruction"),
        ..Request::alone(Source { name: setup.file, text: setup.text }, &outside)
    };
    let checked = check(&setup.world.checker(), &request);
    checked.records.first().and_then(|record| record.downcast_ref::<DelegationInstruction>()).cloned()
}

impl Setup<'_> {
    fn ask(&self, id: &str, request: &Value) -> Result<Value, Failure> {
        // Each step is a command of its own: a key of the caller's stands for the first alone.
        let call = Call { key: None, ..self.call.clone() };
        Ok(self.engine.ask(self.world, &call, id, &request.to_string())?.answer)
    }

    fn look(&self, id: &str) -> Result<Value, Failure> {
        self.engine.look(self.world, self.call, "delegation.show", &json!({ "instruction_id": id }).to_string())
    }

    /// Hands the instruction in, and gives its id.
    fn receive(&self, instruction: Option<&DelegationInstruction>) -> Result<String, Trouble> {
        let obstacles = instruction.map(|it| self.executor.obstacles(it)).unwrap_or_default();
        let mut request =
            json!({ "file": self.file, "instruction": self.text, "executor": self.executor.kind().as_str() });
        if !obstacles.is_empty() {
            request["obstacles"] = obstacles.iter().map(Obstacle::to_value).collect();
        }
        if let Some((run, task)) = self.of_task {
            request["run_id"] = json!(run);
            request["task_id"] = json!(task);
        }
        let answer = self.ask("delegation.receive", &request)?;
        let told = answer["instruction_id"].as_str().map(str::to_owned);
        // One that came before is not said again; then its shape could be read, or at least its id.
        let known = || instruction.map(|it| it.instruction_id.to_string()).or_else(|| id_in(self.file, self.text));
        told.or_else(known).ok_or_else(|| Trouble::Failed("the instruction has no id".to_owned()))
    }

    /// Acts if that is to be done, records what came of it, and gives how the instruction stands then.
    fn answered(
        &self,
        id: &str,
        shown: &Value,
        instruction: Option<&DelegationInstruction>,
        place: &Place,
    ) -> Result<Value, Trouble> {
        let mut answer = json!({ "instruction_id": id, "agent_instance_id": self.call.actor });
        if shown["valid"] == true {
            let instruction = instruction.ok_or_else(|| format!("{id} is not the instruction that was received"))?;
            let kind = self.executor.kind().as_str();
            if shown["executor"] != kind {
                let other = shown["executor"].as_str().unwrap_or("another");
                return Err(format!("{id} was given to {other} before, which must end it; name that executor").into());
            }
            let Some(begun) = self.begin(id, place)? else { return Ok(self.look(id)?) };
            let acted = self.executor.act(instruction, begun["again"] == true);
            let acted = acted.map_err(|why| {
                format!(
                    "what became of {id} is not known: {why}. Delegate it again: it is looked for, and not done twice"
                )
            })?;
            answer["attempt"] = begun["attempt"].clone();
            answer["acted"] = acted;
        }
        self.ask("delegation.answer", &answer)?;
        Ok(self.look(id)?)
    }

    /// Says that it will act. None, if somebody elsewhere did meanwhile and has answered.
    fn begin(&self, id: &str, place: &Place) -> Result<Option<Value>, Trouble> {
        let request = json!({ "instruction_id": id, "place": place.name, "seconds": self.executor.seconds() });
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
    use countersign_contract::{Form, SIZE_MAX_LIMIT, parse};
    let form = Form::of_name(file).unwrap_or_else(|| Form::of_text(text));
    let document = parse(text, form, SIZE_MAX_LIMIT).ok()?;
    Some(document.root().to_value()["INSTRUCTION_ID"].as_str()?.to_owned())
}
