//! Changes that go to the server as one statement: each statement by itself costs an answer, a wake-up at either end, and a
//! good part of what it takes to add a few rows.
//!
//! They are parts of a `WITH`, which all see the same past and not each other. So only changes are taken together that do
//! not look at what another one changes.

use super::link::{Ask, Value};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Takes changes together as far as that can be done. Their order among each other is lost, that towards others is kept.
pub(super) fn merge(asks: Vec<Ask<'_>>) -> Vec<Ask<'_>> {
    let mut merged = Vec::new();
    let mut run: Vec<Ask<'_>> = Vec::new();
    for ask in asks {
        // What is there twice is there because it is too long for one statement.
        if !ask.joins || run.iter().any(|it| it.sql == ask.sql) {
            merged.extend(one(std::mem::take(&mut run)));
        }
        if ask.joins {
            run.push(ask);
        } else {
            merged.push(ask);
        }
    }
    merged.extend(one(run));
    merged
}

/// One statement of some changes. The first value of each is the project.
fn one(asks: Vec<Ask<'_>>) -> Option<Ask<'_>> {
    let mut sql = String::new();
    let mut must = String::from("1");
    let mut values: Vec<Value<'_>> = Vec::new();
    for (nth, ask) in asks.into_iter().enumerate() {
        let start = if nth == 0 { "WITH" } else { "," };
        let _ = write!(sql, "{start} c{nth} AS ({}", numbered(&ask.sql, values.len().saturating_sub(1)));
        if ask.must {
            sql.push_str(" RETURNING 1");
            let _ = write!(must, " / (SELECT count(*) FROM c{nth})");
        }
        sql.push(')');
        let shared = usize::from(nth > 0);
        values.extend(ask.values.into_iter().skip(shared));
    }
    let _ = write!(sql, " SELECT {must}");
    (!values.is_empty()).then(|| Ask { sql: Cow::Owned(sql), values, joins: false, must: false })
}

/// A statement whose values, but for the first, come so many places later.
fn numbered(sql: &str, later: usize) -> String {
    let mut pieces = sql.split('$');
    let mut numbered = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.len() - piece.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let (number, rest) = piece.split_at(digits);
        let number = number.parse::<usize>().unwrap_or(0);
        let number = if number > 1 { number + later } else { number };
        let _ = write!(numbered, "${number}{rest}");
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(asks: Vec<Ask<'_>>) -> Vec<(String, usize)> {
        merge(asks).into_iter().map(|it| (it.sql.into_owned(), it.values.len())).collect()
    }

    fn change(sql: &'static str, values: i32) -> Ask<'static> {
        Ask::change(sql, (0..values).map(|it| Box::new(it) as Value<'_>).collect())
    }

    #[test]
    fn changes_share_a_statement_and_their_first_value() {
        let first = Ask { must: true, ..change("UPDATE a SET b = $2 WHERE c = $1", 2) };
        let asks = vec![first, change("INSERT INTO d VALUES ($1, $2, $3)", 3), change("DELETE FROM e WHERE f = $2", 2)];
        let expected = "WITH c0 AS (UPDATE a SET b = $2 WHERE c = $1 RETURNING 1), \
            c1 AS (INSERT INTO d VALUES ($1, $3, $4)), c2 AS (DELETE FROM e WHERE f = $5) \
            SELECT 1 / (SELECT count(*) FROM c0)";
        assert_eq!(texts(asks), [(expected.to_owned(), 5)]);
    }

    #[test]
    fn what_stands_alone_and_what_comes_again_keeps_its_place() {
        let asks = vec![change("A $1", 1), Ask::bare("B"), change("C $1", 1), change("C $1", 1), change("D $1", 1)];
        let one = |sql: &str| (sql.to_owned(), 1);
        let expected = [
            one("WITH c0 AS (A $1) SELECT 1"),
            ("B".to_owned(), 0),
            one("WITH c0 AS (C $1) SELECT 1"),
            one("WITH c0 AS (C $1), c1 AS (D $1) SELECT 1"),
        ];
        assert_eq!(texts(asks), expected);
        assert_eq!(texts(Vec::new()), []);
    }
}
