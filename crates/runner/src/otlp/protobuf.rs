//! Spans as `ExportTraceServiceRequest`, in Protocol Buffers.

use super::span::{Attributes, Link, Point, Span, Worth};
use super::wire::Out;

/// What sends them, as `InstrumentationScope` says it.
pub(super) const SCOPE: &str = "countersign";
/// Its version.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// That a span was not left out by sampling: nothing is.
pub(super) const SAMPLED: u32 = 1;
/// What a span that failed says.
pub(super) const STATUS_ERROR: u64 = 2;
/// How a link says what it is.
pub(super) const RELATION: &str = "countersign.link";

/// A request with ended spans. What goes on yet is left out.
pub fn request(resource: &[(String, String)], spans: &[Span]) -> Vec<u8> {
    let mut out = Out::default();
    out.message(1, |of_resource| {
        of_resource.message(1, |it| {
            for (key, value) in resource {
                word(it, 1, key, value);
            }
        });
        of_resource.message(2, |of_scope| {
            of_scope.message(1, |scope| {
                scope.text(1, SCOPE);
                scope.text(2, VERSION);
            });
            for (one, ended) in spans.iter().filter_map(|one| Some((one, one.ended?))) {
                of_scope.message(2, |out| span(out, one, ended));
            }
        });
    });
    out.done()
}

fn span(out: &mut Out, span: &Span, ended: i64) {
    out.bytes(1, span.trace.bytes());
    out.bytes(2, span.id.bytes());
    if let Some(parent) = &span.parent {
        out.bytes(4, parent.bytes());
    }
    out.text(5, &span.name);
    out.number(6, span.kind as u64);
    out.fixed64(7, nanoseconds(span.begun));
    out.fixed64(8, nanoseconds(ended));
    attributes(out, 9, &span.attributes);
    for one in &span.points {
        out.message(11, |out| point(out, one));
    }
    for one in &span.links {
        out.message(13, |out| link(out, one));
    }
    if let Some(code) = &span.failed {
        out.message(15, |status| {
            status.text(2, code);
            status.number(3, STATUS_ERROR);
        });
    }
    out.fixed32(16, SAMPLED);
}

fn point(out: &mut Out, point: &Point) {
    out.fixed64(1, nanoseconds(point.at));
    out.text(2, point.name);
    attributes(out, 3, &point.attributes);
}

fn link(out: &mut Out, link: &Link) {
    out.bytes(1, link.trace.bytes());
    out.bytes(2, link.span.bytes());
    word(out, 4, RELATION, link.relation);
    out.fixed32(6, SAMPLED);
}

fn attributes(out: &mut Out, field: u32, attributes: &Attributes) {
    for (key, worth) in attributes {
        match worth {
            Worth::Word(value) => word(out, field, key, value),
            Worth::Flag(flag) => keyed(out, field, key, |value| value.always_number(2, u64::from(*flag))),
            Worth::Count(count) => keyed(out, field, key, |value| value.always_number(3, count.cast_unsigned())),
        }
    }
}

fn word(out: &mut Out, field: u32, key: &str, text: &str) {
    keyed(out, field, key, |value| value.always_bytes(1, text.as_bytes()));
}

fn keyed(out: &mut Out, field: u32, key: &str, value: impl FnOnce(&mut Out)) {
    out.message(field, |pair| {
        pair.text(1, key);
        pair.message(2, value);
    });
}

/// A time as traces have it. Before 1970 there is none.
pub(super) fn nanoseconds(milliseconds: i64) -> u64 {
    u64::try_from(milliseconds).unwrap_or(0).saturating_mul(1_000_000)
}
