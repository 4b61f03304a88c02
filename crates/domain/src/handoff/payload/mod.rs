//! The contract of the universal handoff, and the shapes that only it has.

mod parent_span;
mod trace_id;
mod universal_handoff;

pub use parent_span::ParentSpan;
pub use trace_id::TraceId;
pub use universal_handoff::{
    Artifact, ArtifactType, Confidence, Context, EventType, FileReference, HandoffBody, HandoffSource, HandoffTarget,
    Meta, Payload, ProblemType, References, Relevance, SchemaType, Session, Sha256, TOKEN_COUNT_MAX, TraceEvent,
    Tracing, UniversalHandoff, Url, UrlReference,
};
