//! Traces: what the ledger says of runs, tasks, gates, delegations and handoffs, as spans that are sent where they are looked at.
//!
//! ```text
//! events ─weave─▶ spans ─protobuf, json─▶ request ─line─▶ endpoint
//!   ▲                                                        │
//!   └── follow: from the cursor on, again until it is taken ◀┘
//! ```
//!
//! Spans are made from events alone, and their ids from the ids of what they are about. So whoever sends a trace again sends the
//! same one, and nothing has to be remembered but how far in the log everything was sent (`cursor.rs`). The log is the queue:
//! what cannot be sent now waits there, and takes no memory.
//!
//! **Invariant:** names, ids, codes and counts go into spans, never what somebody said (`words.rs`).
//! **Invariant:** nothing here delays or fails the work that it tells of.

mod answer;
mod cursor;
mod follow;
mod ids;
mod json;
mod line;
mod protobuf;
mod read;
mod send;
mod settings;
mod span;
mod weave;
mod wire;
mod words;

pub use follow::{Exporter, Say};
pub use ids::{SpanId, TraceId};
pub use json::request as json;
pub use protobuf::request as protobuf;
pub use read::{Trace, of_handoff, of_run};
pub use send::{Sent, send_all};
pub use settings::{Named, Protocol, Settings, is_local, resource};
pub use span::{Kind, Link, Point, Span, Worth};
pub use weave::{Agents, Told, Weaver};
