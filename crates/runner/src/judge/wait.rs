//! How long an endpoint asks to be left alone.
//!
//! | header | says |
//! |---|---|
//! | `retry-after-ms` | milliseconds |
//! | `retry-after` | seconds, or a date |
//! | `anthropic-ratelimit-*-reset` | when a limit that is used up is full again, as RFC 3339 |
//! | `x-ratelimit-reset-*` | how long that takes, such as `6m0s` or `12ms` |
//!
//! The first that can be read counts. Dates are measured from the response's own `date`, so that a wrong clock here plays
//! no part.

use jiff::Timestamp;
use std::time::Duration;

/// Limits that an endpoint keeps. A reset counts only where nothing remains of its limit.
const LIMITS: &[(&str, &str)] = &[
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
];

/// How long the headers of a response ask to wait. None, if they do not say, or nothing that can be read.
pub(super) fn asked(header: impl Fn(&str) -> Option<String>, now: Timestamp) -> Option<Duration> {
    let now = header("date").and_then(|date| http_date(&date)).unwrap_or(now);
    let milliseconds = || seconds(&header("retry-after-ms")?).map(|it| it / 1000);
    let after = || {
        let text = header("retry-after")?;
        seconds(&text).or_else(|| Some(until(http_date(&text)?, now)))
    };
    let limits = || LIMITS.iter().filter_map(|limit| reset(limit, &header, now)).max();
    milliseconds().or_else(after).or_else(limits)
}

fn reset(limit: &(&str, &str), header: &impl Fn(&str) -> Option<String>, now: Timestamp) -> Option<Duration> {
    if header(limit.0)?.trim() != "0" {
        return None;
    }
    let text = header(limit.1)?;
    let time = || Some(until(text.trim().parse::<Timestamp>().ok()?, now));
    time().or_else(|| units(text.trim()))
}

/// A number of seconds, whole or with a fraction.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse::<f64>().ok()?).ok()
}

/// A date as HTTP writes it.
fn http_date(text: &str) -> Option<Timestamp> {
    // RFC 9110 writes GMT, which RFC 2822 knows as an obsolete zone.
    let zoned = jiff::fmt::rfc2822::DateTimeParser::new().parse_zoned(text.trim()).ok()?;
    Some(zoned.timestamp())
}

fn until(time: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(time.duration_since(now)).unwrap_or_default()
}

/// A length of time in units, such as `1h2m3.5s` or `12ms`.
fn units(text: &str) -> Option<Duration> {
    let mut all = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, tail) = rest.split_at(end);
        let end = tail.find(|letter: char| letter.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let factor = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        let part = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * factor).ok()?;
        all = all.checked_add(part)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Headers<'a> = &'a [(&'a str, &'a str)];

    fn wait(headers: Headers<'_>) -> Option<Duration> {
        let header = |name: &str| headers.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        asked(header, "2026-02-07T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn headers_are_read_in_their_order() {
        let ms = Duration::from_millis;
        let (here, there) = ("Sat, 07 Feb 2026 12:00:00 GMT", "Sat, 07 Feb 2026 12:00:30 GMT");
        let cases: &[(Headers<'_>, Option<Duration>)] = &[
            (&[], None),
            (&[("retry-after", "7")], Some(ms(7000))),
            (&[("retry-after", " 1.5 ")], Some(ms(1500))),
            (&[("retry-after", "0")], Some(ms(0))),
            (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(ms(250))),
            (&[("retry-after-ms", "soon"), ("retry-after", "7")], Some(ms(7000))),
            (&[("retry-after", there)], Some(ms(30_000))),
            // The server's clock counts, not ours.
            (&[("retry-after", there), ("date", "Sat, 07 Feb 2026 12:00:10 GMT")], Some(ms(20_000))),
            (&[("retry-after", here), ("date", there)], Some(ms(0))),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "1e300")], None),
            (&[("retry-after", "tomorrow")], None),
            (
                &[
                    ("anthropic-ratelimit-requests-remaining", "4"),
                    ("anthropic-ratelimit-requests-reset", "2026-02-07T12:09:00Z"),
                    ("anthropic-ratelimit-input-tokens-remaining", "0"),
                    ("anthropic-ratelimit-input-tokens-reset", "2026-02-07T12:00:40Z"),
                ],
                Some(ms(40_000)),
            ),
            (
                &[
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-requests", "1s"),
                    ("x-ratelimit-remaining-tokens", "0"),
                    ("x-ratelimit-reset-tokens", "6m0s"),
                ],
                Some(ms(360_000)),
            ),
            (&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "12ms")], Some(ms(12))),
            (&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "a while")], None),
            (&[("x-ratelimit-remaining-tokens", "-1"), ("x-ratelimit-reset-tokens", "9s")], None),
            (&[("x-ratelimit-reset-tokens", "9s")], None),
        ];
        for (headers, expected) in cases {
            assert_eq!(wait(headers), *expected, "{headers:?}");
        }
    }

    #[test]
    fn lengths_in_units_are_read() {
        for (text, expected) in [
            ("1h2m3.5s", Some(3723.5)),
            ("1d", Some(86_400.0)),
            ("500ms", Some(0.5)),
            ("", None),
            ("5", None),
            ("s", None),
            ("5x", None),
            ("1.2.3s", None),
        ] {
            assert_eq!(units(text), expected.map(Duration::from_secs_f64), "{text}");
        }
    }
}
