//! How long a platform asks to be left alone.
//!
//! | headers | says |
//! |---|---|
//! | `retry-after` | seconds |
//! | `x-ratelimit-remaining: 0` and `x-ratelimit-reset` | until then, in seconds since 1970 |
//! | neither, and its message speaks of a secondary limit | a minute, and longer each time |

use super::line::Reply;
use super::mentions;
use std::time::Duration;

/// How long is waited at the least for a limit that says nothing.
const SECONDARY: Duration = Duration::from_secs(60);

/// How long a platform is believed at the longest: a header that says more says nothing.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether a request was turned away because there were too many.
pub(super) fn is_limited(reply: &Reply) -> bool {
    let used_up = reply.header("x-ratelimit-remaining") == Some("0") || reply.header("retry-after").is_some();
    reply.status == 429 || (reply.status == 403 && (used_up || mentions(reply, &["rate limit", "abuse detection"])))
}

/// How long to wait before the next try.
pub(super) fn pause(reply: &Reply, tries: u32) -> Duration {
    asked(reply, tries).min(LONGEST)
}

fn asked(reply: &Reply, tries: u32) -> Duration {
    let seconds = |name| reply.header(name).and_then(|text| text.parse::<u64>().ok());
    if let Some(after) = seconds("retry-after") {
        return Duration::from_secs(after);
    }
    if let (Some("0"), Some(reset)) = (reply.header("x-ratelimit-remaining"), seconds("x-ratelimit-reset")) {
        let now = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0);
        return Duration::from_secs(reset.saturating_sub(now).max(1));
    }
    if reply.status < 500 { SECONDARY * 2u32.saturating_pow(tries - 1) } else { backoff(tries) }
}

/// A second, and twice as long each time.
pub(super) fn backoff(tries: u32) -> Duration {
    Duration::from_secs(1) * 2u32.saturating_pow(tries.saturating_sub(1).min(6))
}
