//! What a collector's answer means, as the protocol has it: `200` is success, also where a part was rejected; `429`, `502`, `503`
//! and `504` mean later, and `Retry-After` how much; anything else means never.

use super::line::Response;
use super::settings::Protocol;
use super::wire::{Field, fields};
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Everything was taken.
    Taken,
    /// Some spans were rejected, and will be again.
    Partly { rejected: u64, why: String },
    /// It should be tried again, after so long if that was said.
    Later { after: Option<Duration>, why: String },
    /// It will not be taken, however often it is sent.
    Never(String),
}

/// What came of a request.
pub(super) fn heard(answer: Result<Response, String>, protocol: Protocol, now: Timestamp) -> Heard {
    let response = match answer {
        Ok(response) => response,
        Err(why) => return Heard::Later { after: None, why },
    };
    match response.status {
        200..=299 => taken(&response.body, protocol),
        status @ (429 | 502 | 503 | 504) => {
            let after = response.header("retry-after").and_then(|text| after(text, now));
            Heard::Later { after, why: format!("it answered {status}") }
        }
        status => Heard::Never(format!("it answered {status}")),
    }
}

/// What was taken. An answer that cannot be read says no more than that it is one.
fn taken(body: &[u8], protocol: Protocol) -> Heard {
    let (rejected, why) = match protocol {
        Protocol::Protobuf => partial(body).unwrap_or_default(),
        Protocol::Json => {
            let value: Value = serde_json::from_slice(body).unwrap_or_default();
            let partial = &value["partialSuccess"];
            let rejected = &partial["rejectedSpans"];
            let rejected = rejected.as_u64().or_else(|| rejected.as_str()?.parse().ok());
            (rejected.unwrap_or(0), partial["errorMessage"].as_str().unwrap_or_default().to_owned())
        }
    };
    if rejected == 0 && why.is_empty() {
        return Heard::Taken;
    }
    Heard::Partly { rejected, why: countersign_contract::show(&why) }
}

/// `partial_success`: how many spans were rejected, and why.
fn partial(body: &[u8]) -> Option<(u64, String)> {
    let outer = fields(body)?;
    let partial = outer.iter().find_map(|(number, field)| match (number, field) {
        (1, Field::Bytes(bytes)) => Some(*bytes),
        _ => None,
    })?;
    let (mut rejected, mut why) = (0, String::new());
    for (number, field) in fields(partial)? {
        match (number, field) {
            (1, Field::Number(count)) => rejected = count,
            (2, Field::Bytes(text)) => why = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    Some((rejected, why))
}

/// How long `Retry-After` asks to wait: seconds, or a date.
fn after(text: &str, now: Timestamp) -> Option<Duration> {
    let seconds = || text.trim().parse::<u64>().ok().map(Duration::from_secs);
    let date = || {
        let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_zoned(text.trim()).ok()?;
        Some(Duration::try_from(date.timestamp().duration_since(now)).unwrap_or_default())
    };
    seconds().or_else(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_in_seconds_or_until_a_date() {
        let now: Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
        let cases = [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Mon, 16 Nov 2026 08:01:00 GMT", Some(60)),
            ("Mon, 16 Nov 2026 07:00:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(after(text, now), seconds.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn what_was_rejected_is_read_in_both_forms_and_rubbish_is_no_rejection() {
        let partly = Heard::Partly { rejected: 3, why: "too old".to_owned() };
        let protobuf = [&[0x0a, 0x0b, 0x08, 3, 0x12, 7][..], b"too old"].concat();
        assert_eq!(taken(&protobuf, Protocol::Protobuf), partly);
        for body in [
            r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#,
            r#"{"partialSuccess":{"rejectedSpans":3,"errorMessage":"too old"}}"#,
        ] {
            assert_eq!(taken(body.as_bytes(), Protocol::Json), partly);
        }
        for body in [&b""[..], b"{}", b"<html>", &[0x0a, 0xff], &[0x0a, 0x00]] {
            assert_eq!(taken(body, Protocol::Protobuf), Heard::Taken, "{body:?}");
            assert_eq!(taken(body, Protocol::Json), Heard::Taken, "{body:?}");
        }
    }
}
