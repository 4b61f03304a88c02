//! The contract of the universal handoff, and the shapes that only it has.

mod parent_span;
mod token_count;
mod trace_id;
mod universal_handoff;

pub use parent_span::ParentSpan;
pub use token_count::{TOKEN_COUNT_MAX, TokenCount};
pub use trace_id::TraceId;
pub use universal_handoff::{
    Artifact, ArtifactType, Confidence, Context, EventType, FileReference, HandoffBody, HandoffSource, HandoffTarget,
    Meta, Payload, ProblemType, References, Relevance, SchemaType, Session, Sha256, TraceEvent, Tracing,
    UniversalHandoff, Url, UrlReference,
};
