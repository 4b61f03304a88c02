//! The same request in JSON, by the mapping that OTLP has of its own: ids in hexadecimal, long numbers as texts.

use super::protobuf::{RELATION, SAMPLED, SCOPE, STATUS_ERROR, VERSION, nanoseconds};
use super::span::{Attributes, Span, Worth};
use serde_json::{Value, json};

/// A request with ended spans. What goes on yet is left out.
pub fn request(resource: &[(String, String)], spans: &[Span]) -> Value {
    let resource: Vec<Value> =
        resource.iter().map(|(key, value)| keyed(key, json!({ "stringValue": value }))).collect();
    let spans: Vec<Value> = spans.iter().filter_map(|one| Some(span(one, one.ended?))).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": SCOPE, "version": VERSION }, "spans": spans }],
    }] })
}

fn span(span: &Span, ended: i64) -> Value {
    let mut value = json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanoseconds(span.begun).to_string(),
        "endTimeUnixNano": nanoseconds(ended).to_string(),
        "attributes": attributes(&span.attributes),
        "flags": SAMPLED,
    });
    if let Some(parent) = &span.parent {
        value["parentSpanId"] = json!(parent.to_string());
    }
    if !span.points.is_empty() {
        let points = span.points.iter().map(|point| {
            let time = nanoseconds(point.at).to_string();
            json!({ "timeUnixNano": time, "name": point.name, "attributes": attributes(&point.attributes) })
        });
        value["events"] = points.collect();
    }
    if !span.links.is_empty() {
        let links = span.links.iter().map(|link| {
            let relation = keyed(RELATION, json!({ "stringValue": link.relation }));
            let (trace, span) = (link.trace.to_string(), link.span.to_string());
            json!({ "traceId": trace, "spanId": span, "attributes": [relation], "flags": SAMPLED })
        });
        value["links"] = links.collect();
    }
    if let Some(code) = &span.failed {
        value["status"] = json!({ "message": code, "code": STATUS_ERROR });
    }
    value
}

fn attributes(attributes: &Attributes) -> Value {
    let value = |worth: &Worth| match worth {
        Worth::Word(word) => json!({ "stringValue": word }),
        Worth::Flag(flag) => json!({ "boolValue": flag }),
        Worth::Count(count) => json!({ "intValue": count.to_string() }),
    };
    attributes.iter().map(|(key, worth)| keyed(key, value(worth))).collect()
}

fn keyed(key: &str, value: Value) -> Value {
    json!({ "key": key, "value": value })
}
