//! What should worry whoever answers for delegation: the four alerts.
//!
//! | alert | when |
//! |---|---|
//! | `failure_rate` | of the answers of an hour more than a tenth are failures |
//! | `authorization_failures` | more than five of them lacked authority |
//! | `execution_time` | one took longer than 30 seconds |
//! | `audit_lag` | there was no entry for more than 60 seconds in which nobody acted who then wrote it |
//!
//! What came more than a minute ago and has no entry yet counts as lagging too.

use crate::deciding::{Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::delegation::payload::{ErrorType, Status};
use crate::delegation::row::{DelegationRow, delegation_of};
use crate::delegation::state;
use countersign_contract::{Int, List, shape};
use jiff::Timestamp;

/// The hour that is looked at, in milliseconds.
const HOUR_MS: i64 = 60 * 60 * 1000;
/// Of a hundred answers, how many may be failures.
const FAILURES_PERCENT_MAX: usize = 10;
/// How many answers of an hour may lack authority.
const UNAUTHORIZED_MAX: usize = 5;
/// How long an instruction may take.
const EXECUTION_MS_MAX: u64 = 30_000;
/// How long after an action its entry may be written.
const AUDIT_LAG_MS_MAX: u64 = 60_000;
/// How many instructions are looked at. More than these in an hour are too many to be done one at a time.
const ROWS_MAX: usize = 10_000;
/// How many instructions an alert names.
const NAMED_MAX: usize = 100;

shape! {
    /// What should worry whoever answers for delegation, as of the last hour.
    pub closed struct ListAlerts {}
}

shape! {
    /// Something to worry about.
    pub struct Alert {
        /// `failure_rate`, `authorization_failures`, `execution_time` or `audit_lag`.
        pub alert: String,
        /// What was found, in a sentence.
        pub says: String,
        /// How many instructions it is about.
        pub count: Int,
        /// The latest of them.
        pub instructions: List<String>,
    }
}

shape! {
    /// What should worry whoever answers for delegation.
    pub struct AlertsShown {
        /// How many instructions were answered in the last hour.
        pub answered: Int,
        /// The alerts; none, if all is well.
        pub alerts: List<Alert>,
    }
}

fn since(moment: &Moment) -> Range {
    let from = Timestamp::from_millisecond(moment.now_ms - HOUR_MS).unwrap_or(Timestamp::UNIX_EPOCH);
    // As the ledger writes times: to the millisecond.
    state::answered_since(&format!("{from:.3}"), ROWS_MAX)
}

impl View for ListAlerts {
    const INFO: ViewInfo =
        ViewInfo { id: "delegation.alerts", summary: "What should worry whoever answers for delegation" };
    type Shown = AlertsShown;

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let ranges = [since(moment), state::open(ROWS_MAX)];
        let hits = ranges.iter().flat_map(|range| seen.range_so_far(range).into_iter().flatten());
        let entities: Vec<Need> = hits.map(|(_, key)| Need::Entity(key.clone())).collect();
        entities.into_iter().chain(ranges.into_iter().map(Need::Range)).collect()
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<AlertsShown, Refusal> {
        let rows = |range: &Range| -> Vec<DelegationRow> {
            seen.range(range).filter_map(|(_, key)| delegation_of(seen.entity(key))).collect()
        };
        let (answered, open) = (rows(&since(moment)), rows(&state::open(ROWS_MAX)));
        Ok(AlertsShown {
            alerts: alerts(&answered, &open, moment.now_ms).into(),
            answered: (answered.len() as u64).into(),
        })
    }
}

fn alerts(answered: &[DelegationRow], open: &[DelegationRow], now_ms: i64) -> Vec<Alert> {
    let having = |test: &dyn Fn(&DelegationRow) -> bool| -> Vec<&DelegationRow> {
        answered.iter().filter(|row| test(row)).collect()
    };
    let status = |row: &DelegationRow| row.answered.as_ref().and_then(|it| Status::parse(&it.status));
    let failed = having(&|row| matches!(status(row), Some(Status::Failure | Status::Blocked)));
    let lacked = having(&|row| {
        let refused = row.answered.as_ref().and_then(|it| it.error_type.as_deref());
        row.lacks || refused == Some(ErrorType::AuthorizationFailure.as_str())
    });
    let slow = having(&|row| row.answered.as_ref().is_some_and(|it| it.duration_ms > EXECUTION_MS_MAX));
    let mut late = having(&|row| row.answered.as_ref().is_some_and(|it| it.audit_lag_ms > AUDIT_LAG_MS_MAX));
    late.extend(open.iter().filter(|row| {
        let received = row.received_at.parse::<Timestamp>().map_or(now_ms, Timestamp::as_millisecond);
        u64::try_from(now_ms - received).unwrap_or(0) > AUDIT_LAG_MS_MAX
    }));
    let all = answered.len();
    let mut alerts = Vec::new();
    let mut alert = |is: bool, alert: &str, rows: &[&DelegationRow], says: String| {
        if is {
            let named = rows.iter().rev().take(NAMED_MAX).map(|row| row.instruction_id.clone());
            let (alert, count) = (alert.to_owned(), (rows.len() as u64).into());
            alerts.push(Alert { alert, says, count, instructions: named.collect::<Vec<_>>().into() });
        }
    };
    let rate = failed.len() * 100 > all * FAILURES_PERCENT_MAX;
    alert(rate, "failure_rate", &failed, format!("{} of {all} answers of the last hour are failures", failed.len()));
    let many = lacked.len() > UNAUTHORIZED_MAX;
    let says = format!("{} instructions of the last hour lacked authority", lacked.len());
    alert(many, "authorization_failures", &lacked, says);
    let says = format!("{} took longer than {} s", slow.len(), EXECUTION_MS_MAX / 1000);
    alert(!slow.is_empty(), "execution_time", &slow, says);
    let says = format!("{} have no audit entry within {} s", late.len(), AUDIT_LAG_MS_MAX / 1000);
    alert(!late.is_empty(), "audit_lag", &late, says);
    alerts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delegation::row::AnsweredRow;

    fn row(status: &str, lacks: bool, duration_ms: u64, audit_lag_ms: u64) -> DelegationRow {
        let answered = AnsweredRow { duration_ms, audit_lag_ms, ..AnsweredRow::example(status) };
        DelegationRow { answered: Some(answered), lacks, ..DelegationRow::default() }
    }

    fn found(answered: &[DelegationRow], open: &[DelegationRow]) -> Vec<String> {
        alerts(answered, open, 100_000).into_iter().map(|it| it.alert).collect()
    }

    #[test]
    fn each_alert_has_its_bound() {
        let good = || row("SUCCESS", false, 30_000, 60_000);
        let many = |count: usize, row: DelegationRow| vec![row; count];
        assert!(found(&many(9, good()), &[]).is_empty());
        // A tenth is not more than a tenth.
        let failed = |all: usize| [many(all - 1, good()), many(1, row("FAILURE", false, 1, 1))].concat();
        assert!(found(&failed(10), &[]).is_empty());
        assert_eq!(found(&failed(9), &[]), ["failure_rate"]);
        let lacking = row("INVALID_REQUEST", true, 1, 1);
        assert!(found(&many(5, lacking.clone()), &[]).is_empty());
        assert_eq!(found(&many(6, lacking), &[]), ["authorization_failures"]);
        assert_eq!(found(&[row("SUCCESS", false, 30_001, 1)], &[]), ["execution_time"]);
        assert_eq!(found(&[row("SUCCESS", false, 1, 60_001)], &[]), ["audit_lag"]);
        let waiting = |at: &str| DelegationRow { received_at: at.to_owned(), ..DelegationRow::default() };
        assert!(found(&[], &[waiting("1970-01-01T00:00:40Z")]).is_empty());
        assert_eq!(found(&[], &[waiting("1970-01-01T00:00:39Z")]), ["audit_lag"]);
    }
}
