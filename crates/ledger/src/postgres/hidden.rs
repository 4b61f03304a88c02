//! Rows that nobody would ever come by, and an end of the log that is not its end.

use super::fault::Fault;
use super::link::{Ask, Session, Value};
use super::open::STEPS;

/// The end of the log, where it is not as the last event says.
const END: &str = "SELECT 'the log should end with event ' || h.seq || ' ' || encode(h.hash, 'hex')
        || ' and ends with ' || coalesce(e.seq || ' ' || encode(e.hash, 'hex'), 'nothing')
    FROM countersign.head h LEFT JOIN LATERAL (
        SELECT seq, hash FROM countersign.event WHERE project = h.project ORDER BY seq DESC LIMIT 1) e ON true
    WHERE h.project = $1
        AND (h.seq, h.hash) <> (coalesce(e.seq, 0), coalesce(e.hash, decode(repeat('00', 32), 'hex')))";

/// Everything begins with event 1 and level 0, and stretches end before the last number.
const BEFORE: &str = "SELECT 'the table `' || name || '` has a row whose ' || what || ' is ' || found
        || ', where nothing can be'
    FROM (
        SELECT 'event' AS name, 'seq' AS what, min(seq) AS found FROM countersign.event WHERE project = $1 AND seq < 1
        UNION ALL SELECT 'text', 'seq', min(seq) FROM countersign.text
            WHERE project = $1 AND (seq < 1 OR seq = 9223372036854775807)
        UNION ALL SELECT 'touch', 'seq', min(seq) FROM countersign.touch WHERE project = $1 AND seq < 1
        UNION ALL SELECT 'tile', 'number', min(least(level, number)) FROM countersign.tile
            WHERE project = $1 AND (level < 0 OR number < 0)
    ) hidden WHERE found IS NOT NULL";

/// Rows between the projects that are known, found by their keys and not by reading all of them.
const NOBODYS: &str = "WITH gap AS (
        SELECT lag(project, 1, -2147483649) OVER (ORDER BY project) AS low, project AS high
        FROM (SELECT project::bigint FROM countersign.head UNION ALL SELECT 2147483648) known)
    SELECT 'the table `' || name || '` has a row of project number ' || found || ', which there is not'
    FROM (
    SELECT 'event', found FROM gap, LATERAL (SELECT project AS found FROM countersign.event WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'text', found FROM gap, LATERAL (SELECT project AS found FROM countersign.text WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'blob', found FROM gap, LATERAL (SELECT project AS found FROM countersign.blob WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'meta', found FROM gap, LATERAL (SELECT project AS found FROM countersign.meta WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'entity', found FROM gap, LATERAL (SELECT project AS found FROM countersign.entity WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'place', found FROM gap, LATERAL (SELECT project AS found FROM countersign.place WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'touch', found FROM gap, LATERAL (SELECT project AS found FROM countersign.touch WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'remembered', found FROM gap, LATERAL (SELECT project AS found FROM countersign.remembered WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'lease', found FROM gap, LATERAL (SELECT project AS found FROM countersign.lease WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'tile', found FROM gap, LATERAL (SELECT project AS found FROM countersign.tile WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'liveness', found FROM gap, LATERAL (SELECT project AS found FROM countersign.liveness WHERE project > low AND project < high LIMIT 1) _
    UNION ALL
    SELECT 'due', found FROM gap, LATERAL (SELECT project AS found FROM countersign.due WHERE project > low AND project < high LIMIT 1) _
    ) nobodys (name, found)";

/// There is a row for each step that was made, and no other.
const STEPS_MADE: &str = "SELECT 'the table `format` ' || CASE WHEN made IS NULL THEN 'lacks the row ' || known
        ELSE 'has a row ' || step || ', which no step made' END
    FROM countersign.format FULL JOIN generate_series(1, $1::bigint) known ON known = step
    WHERE made IS NULL OR known IS NULL";

pub(super) async fn faults(session: &Session) -> Result<Vec<String>, Fault> {
    let project = || -> Vec<Value<'static>> { vec![Box::new(session.project.get())] };
    let known = STEPS.len() as i64;
    let asks = [
        Ask::new(END, project()),
        Ask::new(BEFORE, project()),
        Ask::bare(NOBODYS),
        Ask::new(STEPS_MADE, vec![Box::new(known)]),
    ];
    let answers = session.ask(&asks).await?;
    answers.iter().flatten().map(|row| Ok(row.try_get(0)?)).collect()
}
