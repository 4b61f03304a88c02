//! What a run is given to do.

use super::{AnyNumber, Approval, Check, Gates, HandoffEdge, Instructed, OfKind, OneOrMany, PlannedKind, Span};
use crate::delegation::command::ExecutorKind;
use crate::ids::TaskId;
use crate::plan::rules;
use crate::validation::evidence::EvidenceKind;
use crate::work::payload::{Priority, Resource};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{
    Contract, Form, Int, List, Map, Name, Outside, Report, Rule, Subject, Text, Untrusted, VersionExactly, choice,
    shape,
};
use serde_json::{Value, json};

shape! {
    /// A plan: tasks, who does them, and what shows that they are done.
    pub closed struct Plan {
        /// The version of its form.
        pub plan: VersionExactly<1, 0>,
        /// What it is for.
        pub objective: Text<1, 5000> = "Half-even rounding in billing",
        /// What it must keep to.
        pub constraints: Option<AnyNumber<Text<1, 1000>>>,
        /// The matter that it belongs to, and all events of its run with it; `main`, if it is not said.
        pub matter: Option<Name>,
        /// Who works, by name.
        pub agents: Map<Agent> = json!({ "coder": Agent::example_value() }),
        /// Who says that work is done; the built-in validator and no judge, if it is not said.
        pub gates: Option<Gates>,
        /// What may be spent.
        pub budgets: Option<Budgets>,
        /// How many agents work at once; as many as there are cores, if it is not said.
        pub concurrency: Option<Int<1, 256>>,
        /// The hosts that evidence may be fetched from, beside this machine.
        pub allow_hosts: Option<AnyNumber<Text<1, 253>>>,
        /// The tasks.
        pub tasks: List<PlannedTask, 1, 1000>,
        /// What tasks hand over to each other.
        pub handoffs: Option<List<HandoffEdge, 0, 200>>,
    }
}

impl Agent {
    fn example_value() -> Value {
        json!({ "command": ["python3", "agents/coder.py"] })
    }
}

choice! {
    /// What an agent is for.
    pub enum AgentRole {
        /// Does tasks.
        Worker = "worker",
        /// Validates what others did.
        Validator = "validator",
        /// Judges what was validated.
        Judge = "judge",
    }
}

choice! {
    /// An agent that is known.
    pub enum Preset {
        /// `claude -p`.
        Claude = "claude",
        /// `codex exec`.
        Codex = "codex",
    }
}

shape! {
    /// Somebody who works: a program, a known agent, or a peer that claims tasks itself.
    pub closed struct Agent {
        /// The program: an argument vector.
        pub command: Option<OneOrMany<Text>>,
        /// A known agent.
        pub preset: Option<Preset>,
        /// Whether it claims tasks itself, over MCP or HTTP.
        pub peer: Option<bool>,
        /// What it is for; to do tasks, if it is not said.
        pub role: Option<AgentRole>,
        /// The model that it should use.
        pub model: Option<Text<1, 200>>,
        /// The variables of the environment that it is given.
        pub environment: Option<AnyNumber<Text<1, 100>>>,
    }
}

shape! {
    /// What may be spent.
    pub closed struct Budgets {
        /// How long the run may take.
        pub wall_time: Option<Span>,
        /// How many tokens its agents may use.
        pub tokens: Option<Int<1>>,
        /// How much money, in US dollars.
        pub money: Option<f64>,
        /// How often tasks may be begun, all together.
        pub attempts: Option<Int<1>>,
    }
}

shape! {
    /// A task of a plan.
    pub closed struct PlannedTask {
        /// Its id.
        pub id: TaskId = "T-1",
        /// One line.
        pub title: Text<1, 500> = "Round half to even",
        /// What it is; the work of an agent, if it is not said.
        pub kind: Option<PlannedKind>,
        /// Who does it.
        pub agent: OfKind<Name> = "coder",
        /// For an action on a platform: what is to be done, as an instruction or as the path of one.
        pub instruction: Option<Instructed>,
        /// For an action: who carries it out; git where it can, otherwise GitHub, if it is not said.
        pub executor: Option<ExecutorKind>,
        /// For an action: whether a person must approve it; where the table of policy says so, if it is not said.
        pub approval: Option<Approval>,
        /// The tasks that must be done before.
        pub depends_on: Option<AnyNumber<TaskId>>,
        /// What it may change.
        pub lock_scope: OfKind<OneOrMany<Resource>> = ["billing/round.py", "tests/test_round.py"],
        /// What it may not change.
        pub forbidden_scope: Option<AnyNumber<Resource>>,
        /// When it is done.
        pub acceptance: OfKind<List<Criterion, 1, 100>> = [Criterion::example_value()],
        /// How long its agent may be silent; 20 minutes, if it is not said.
        pub timeout: Option<Span>,
        /// How often its agent gives a sign of life; every 2 minutes, if it is not said.
        pub heartbeat: Option<Span>,
        /// How soon; normal, if it is not said.
        pub priority: Option<Priority>,
        /// How often it is tried again; once, if it is not said.
        pub retries: Option<Int<0, 10>>,
    }
}

shape! {
    /// When a task is done: a text, and what shows it.
    pub closed struct Criterion {
        /// What must hold.
        pub text: Untrusted<Text> = "rounding tests pass",
        /// What a machine can decide about it. All of them must hold.
        pub check: Option<OneOrMany<Check>> = Check::example_value(),
        /// The kind of evidence that is asked for; that of its check, if it is not said.
        pub evidence: Option<EvidenceKind>,
        /// Files that count as they were before the work began.
        pub pin: Option<AnyNumber<Resource>> = "tests/test_round.py",
        /// Whether its checks must fail before the work, to show that they tell anything.
        pub red_before_green: Option<bool>,
    }
}

impl PlannedTask {
    /// How soon it is wanted.
    pub fn urgency(&self) -> Priority {
        self.priority.unwrap_or(Priority::Normal)
    }
}

impl Check {
    fn example_value() -> Value {
        <Self as countersign_contract::Shape>::example()
    }
}

impl Criterion {
    fn example_value() -> Value {
        <Self as countersign_contract::Shape>::example()
    }

    /// The kind of evidence that is asked for.
    pub fn asked(&self) -> EvidenceKind {
        let given = self.check.iter().flat_map(|checks| checks.iter()).flat_map(Check::kinds);
        self.evidence.or_else(|| given.max()).unwrap_or(EvidenceKind::Statement)
    }
}

impl Contract for Plan {
    const NAME: &'static str = "plan";
    const VERSION: &'static str = "1.0";
    const DOMAIN: &'static str = "plan";
    const SUMMARY: &'static str = "Tasks, who does them, and what shows that they are done";
    const MARKS: &'static [&'static str] = &["plan", "tasks"];
    const FORMS: &'static [Form] = &[Form::Json, Form::Yaml];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::plan::RULES
    }

    /// An instruction obeys its own rules wherever it stands.
    fn check_parts(subject: &Subject<'_, Self>, report: &mut Report) {
        let Some(list) = subject.root.get("tasks") else { return };
        for (index, (task, at)) in subject.record.tasks.iter().zip(list.items()).enumerate() {
            if let (Some(written), Some(at)) = (task.instructed(), at.get("instruction")) {
                let pointer = Pointer::at("/tasks").item(index).key("instruction");
                subject.check_part(&written.record, at, &pointer, report);
            }
        }
    }

    fn version(&self) -> Option<&str> {
        Some(Self::VERSION)
    }

    /// The files of instructions, and the evidence that instructions name.
    fn files(&self) -> Vec<String> {
        let of_task = |task: &PlannedTask| match &task.instruction {
            Some(Instructed::File(path)) => vec![path.as_str().to_owned()],
            Some(Instructed::Written(written)) => written.record.files(),
            None => Vec::new(),
        };
        self.tasks.iter().flat_map(of_task).collect()
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn default_for(pointer: &str, _: &Value, _: &Outside) -> Option<Value> {
        (pointer == "/plan").then(|| Self::VERSION.into())
    }
}
