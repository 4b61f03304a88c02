"""Reads requests with spans as OpenTelemetry's own package does, and prints them in one form.

Standard input: a JSON object a line, with `form` (the content type) and `body` (base64). Standard output: the spans, one a line.
"""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def with_bytes(value):
    """OTLP writes ids in hexadecimal, where the usual mapping of Protocol Buffers has base64."""
    if isinstance(value, list):
        return [with_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId", "spanId", "parentSpanId"}
    return {
        key: base64.b64encode(bytes.fromhex(item)).decode() if key in ids else with_bytes(item)
        for key, item in value.items()
    }


def read(form, body):
    request = ExportTraceServiceRequest()
    if form == "application/json":
        json_format.ParseDict(with_bytes(json.loads(body)), request)
    elif form == "application/x-protobuf":
        request.ParseFromString(body)
        assert request.SerializeToString(), "nothing was in it"
    else:
        raise ValueError(form)
    return request


def attributes(pairs):
    found = {}
    for pair in pairs:
        kind = pair.value.WhichOneof("value")
        assert kind is not None and pair.key not in found, pair
        found[pair.key] = getattr(pair.value, kind)
    return found


def span(one, resource):
    assert len(one.trace_id) == 16 and len(one.span_id) == 8 and len(one.parent_span_id) in (0, 8)
    return {
        "resource": resource,
        "trace": one.trace_id.hex(),
        "id": one.span_id.hex(),
        "parent": one.parent_span_id.hex(),
        "name": one.name,
        "kind": one.kind,
        "begun": one.start_time_unix_nano // 1_000_000,
        "ended": one.end_time_unix_nano // 1_000_000,
        "attributes": attributes(one.attributes),
        "points": [[it.name, it.time_unix_nano // 1_000_000, attributes(it.attributes)] for it in one.events],
        "links": [[it.trace_id.hex(), it.span_id.hex(), attributes(it.attributes)] for it in one.links],
        "status": [one.status.code, one.status.message],
        "flags": one.flags,
    }


for line in sys.stdin:
    message = json.loads(line)
    request = read(message["form"], base64.b64decode(message["body"]))
    for of_resource in request.resource_spans:
        resource = attributes(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans:
            assert of_scope.scope.name == "countersign"
            for one in of_scope.spans:
                print(json.dumps(span(one, resource), sort_keys=True))
