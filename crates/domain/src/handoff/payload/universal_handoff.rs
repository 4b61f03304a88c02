//! The universal handoff, version 3.0.

use super::{ParentSpan, TokenCount, TraceId};
use crate::handoff::{ladder, rules, upkeep};
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{
    Contract, Form, Int, JsonObject, List, Map, Name, Outside, Rule, Text, Timestamp, Untrusted, VersionExactly,
    choice, fix, pattern, shape,
};

shape! {
    /// Work that goes from one workflow to another, with what the next one needs to go on.
    pub closed struct UniversalHandoff {
        /// The handoff.
        pub handoff: HandoffBody,
    }
}

shape! {
    /// What is handed over, by whom, to whom, and what it says about itself.
    pub closed struct HandoffBody {
        /// The version of the contract. Only 3.0 is known.
        pub version: VersionExactly<3, 0>,
        /// Tells a universal handoff from those of a single workflow.
        pub schema_type: SchemaType,
        /// When it was made.
        pub timestamp: Timestamp,
        /// From when on nobody may act on it. Without it, it does not expire.
        pub expires_at: Option<Timestamp>,
        /// Shared by every handoff of one chain.
        pub trace_id: TraceId,
        /// Who hands over.
        pub source: HandoffSource,
        /// Who takes over.
        pub target: HandoffTarget,
        /// What it is about.
        pub context: Context,
        /// What the target works with, in tiers.
        pub payload: Payload,
        /// What the handoff says about itself.
        pub meta: Meta,
        /// How it came this far.
        pub tracing: Option<Tracing>,
    }
}

choice! {
    /// The kind of schema.
    pub enum SchemaType { Universal = "universal" }
}

shape! {
    /// Who hands over.
    pub struct HandoffSource {
        /// The skill.
        pub skill: Name = "skill-editor",
        /// The run of it.
        pub workflow_id: Text = "session-17",
        /// The directory of its session.
        pub session_path: Text = "/srv/sessions/session-17",
        /// Where in its work it stands.
        pub phase: Text = "Phase 3: Review",
    }
}

shape! {
    /// Who takes over.
    pub struct HandoffTarget {
        /// The skill.
        pub skill: Name = "programming-pm",
        /// How it is called.
        pub invocation: Option<Text>,
        /// What it is good at.
        pub category: Option<Text>,
        /// Where it should begin.
        pub expected_phase: Option<Text>,
    }
}

shape! {
    /// What the handoff is about.
    pub struct Context {
        /// In at most 500 characters.
        pub summary: Untrusted<Text<1, 500>> = "Build the reviewed plan for handoffs between workflows.",
        /// What sort of problem it is.
        pub problem_type: ProblemType = "implementation",
        /// What the user asked for in the beginning.
        pub original_prompt: Option<Untrusted<Text>>,
        /// What to look at first.
        pub focus_areas: Option<List<Untrusted<Text>>>,
        /// What is not known, or not done.
        pub known_gaps: Option<List<Untrusted<Text>>>,
        /// What tells that it is done.
        pub success_criteria: Option<List<Untrusted<Text>>>,
    }
}

choice! {
    /// Sorts of problems.
    pub forgiving enum ProblemType {
        Decision = "decision",
        Creative = "creative",
        Analytical = "analytical",
        Strategic = "strategic",
        Implementation = "implementation",
        Research = "research",
        Verification = "verification",
    }
}

shape! {
    /// What the target works with: at once, when it asks, and where the rest is to be found.
    pub struct Payload {
        /// What is needed at once. Its keys are the sender's own.
        pub working: JsonObject = json!({"decision": "extend the schema, keep old workflows as they are"}),
        /// The state of the session so far.
        pub session: Option<Session>,
        /// What can be read when it is needed.
        pub references: Option<References>,
    }
}

shape! {
    /// The state of a session.
    pub struct Session {
        /// What it has made.
        pub artifacts: Option<List<Artifact>>,
        /// Its variables.
        pub state: Option<JsonObject>,
    }
}

shape! {
    /// Something that a session has made.
    pub struct Artifact {
        /// Its name.
        pub name: Text = "Implementation plan",
        /// Where it is: absolute, or below the session's directory.
        pub path: Text = "plan.md",
        /// What it is; `type` is the name on the wire.
        pub kind as "type": ArtifactType,
        /// In a few words.
        pub description: Option<String>,
        /// The SHA-256 of its content.
        pub checksum: Option<Sha256>,
    }
}

choice! {
    /// Kinds of artifacts.
    pub forgiving enum ArtifactType {
        Specification = "specification",
        Analysis = "analysis",
        Code = "code",
        Documentation = "documentation",
        Data = "data",
        Model = "model",
        Report = "report",
    }
}

pattern! {
    /// A SHA-256 with its name before it.
    pub struct Sha256 {
        pattern: r"^sha256:[0-9a-f]{64}$",
        example: "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        says: "`sha256:` and 64 hexadecimal digits in lower case",
        test: |text| text.strip_prefix("sha256:").is_some_and(|digits| {
            digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        }),
    }
}

shape! {
    /// What can be read when it is needed.
    pub struct References {
        /// Files.
        pub files: Option<List<FileReference>>,
        /// Pages.
        pub urls: Option<List<UrlReference>>,
    }
}

shape! {
    /// A file to read when it is needed.
    pub struct FileReference {
        /// Where it is.
        pub path: Text = "docs/plan.md",
        /// In a few words.
        pub description: Option<String>,
        /// How much depends on it.
        pub relevance: Option<Relevance>,
    }
}

choice! {
    /// How much depends on a reference.
    pub forgiving enum Relevance { Critical = "critical", Important = "important", Optional = "optional" }
}

shape! {
    /// A page to read when it is needed.
    pub struct UrlReference {
        /// Where it is. It is never fetched by checking.
        pub url: Url,
        /// In a few words.
        pub description: Option<String>,
    }
}

pattern! {
    /// An address with its scheme, in printable ASCII as RFC 3986 has it.
    pub struct Url {
        pattern: r"^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$",
        example: "https://json-schema.org/",
        says: "an address with its scheme, such as https://example.org/page",
        test: is_address,
    }
}

fn is_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
        && !rest.is_empty()
        && rest.bytes().all(|byte| byte.is_ascii_graphic())
}

shape! {
    /// What the handoff says about itself.
    pub struct Meta {
        /// How many tokens the whole document has, as compact JSON. Zero is brought up to date by `fix`.
        pub token_count: TokenCount = 139,
        /// How sure the source is of what it hands over.
        pub confidence: Confidence = "medium",
        /// The skills it came through, from the one that began to the source. Without it, the source began.
        pub handoff_chain: Option<List<Name, 1>>,
        /// Why it is handed over, and why again where the target was part of the chain before.
        pub handoff_reason: Option<Text>,
        /// The SHA-256 of the payload in RFC 8785's canonical form.
        pub payload_hash: Option<Sha256>,
        /// How many bytes the payload has, as compact JSON in UTF-8.
        pub payload_size_bytes: Option<Int>,
        /// Whether a person agreed to this handoff. Without it, nobody did.
        pub user_approved: Option<bool>,
    }
}

choice! {
    /// How sure the source is.
    pub forgiving enum Confidence { High = "high", Medium = "medium", Low = "low" }
}

shape! {
    /// How the handoff came this far.
    pub struct Tracing {
        /// What happened, in order.
        pub events: Option<List<TraceEvent>>,
        /// The span above; null for a root span.
        pub parent_span_id: ParentSpan,
        /// Free words about it.
        pub tags: Option<Map<String>>,
    }
}

shape! {
    /// One thing that happened on the way.
    pub struct TraceEvent {
        /// When.
        pub timestamp: Timestamp,
        /// What.
        pub event_type: EventType,
        /// Where.
        pub workflow: Text = "skill-editor",
        /// More about it.
        pub details: Option<JsonObject>,
    }
}

choice! {
    /// What may happen to a handoff.
    pub forgiving enum EventType {
        Created = "created",
        Validated = "validated",
        Transmitted = "transmitted",
        Received = "received",
        Processed = "processed",
        Error = "error",
    }
}

impl Payload {
    /// The files referred to.
    pub fn files(&self) -> &[FileReference] {
        self.references.as_ref().and_then(|it| it.files.as_deref()).unwrap_or_default()
    }

    /// The pages referred to.
    pub fn urls(&self) -> &[UrlReference] {
        self.references.as_ref().and_then(|it| it.urls.as_deref()).unwrap_or_default()
    }

    /// What the session made.
    pub fn artifacts(&self) -> &[Artifact] {
        self.session.as_ref().and_then(|it| it.artifacts.as_deref()).unwrap_or_default()
    }
}

impl HandoffBody {
    /// The chain as it is written; none is written where the source began.
    pub fn chain(&self) -> &[Name] {
        self.meta.handoff_chain.as_deref().unwrap_or_default()
    }

    /// What happened on the way.
    pub fn events(&self) -> &[TraceEvent] {
        self.tracing.as_ref().and_then(|it| it.events.as_deref()).unwrap_or_default()
    }
}

impl Contract for UniversalHandoff {
    const NAME: &'static str = "universal_handoff";
    const VERSION: &'static str = "3.0";
    const DOMAIN: &'static str = "handoff";
    const SUMMARY: &'static str = "Work that goes from one workflow to another";
    const MARKS: &'static [&'static str] = &["handoff"];
    const FORMS: &'static [Form] = &[Form::Json, Form::Yaml];

    fn rules() -> &'static [&'static Rule<Self>] {
        rules::universal_handoff::RULES
    }

    fn version(&self) -> Option<&str> {
        Some(Self::VERSION)
    }

    fn names(&self) -> Vec<String> {
        vec![self.handoff.trace_id.as_str().to_owned()]
    }

    /// Those it refers to, then those the session made, as they are written.
    fn files(&self) -> Vec<String> {
        let payload = &self.handoff.payload;
        let referred = payload.files().iter().map(|file| file.path.as_str());
        let made = payload.artifacts().iter().map(|artifact| artifact.path.as_str());
        referred.chain(made).map(str::to_owned).collect()
    }

    fn default_for(pointer: &str, _: &Value, outside: &Outside) -> Option<Value> {
        upkeep::default_for(pointer, outside)
    }

    /// The count of tokens only says how much room to make; hash and size prove what has arrived.
    const ESTIMATES: &'static [&'static str] = &["/handoff/meta/token_count"];

    fn seal(document: &mut Value) {
        upkeep::seal(document);
    }

    fn rungs() -> &'static [fix::Rung] {
        ladder::RUNGS
    }
}
