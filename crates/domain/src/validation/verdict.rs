//! What follows from the results: the one place that says which verdict goes with which answers.

use countersign_contract::choice;

choice! {
    /// What a validator found for one criterion.
    pub enum CriterionStatus {
        /// It holds, and evidence shows it.
        Pass = "PASS",
        /// It does not hold.
        Fail = "FAIL",
        /// It was not looked at.
        Skip = "SKIP",
        /// It could not be looked at.
        Blocked = "BLOCKED",
    }
}

choice! {
    /// What the results come to. It follows from them and is never chosen.
    pub enum Verdict {
        /// Every criterion holds.
        Pass = "PASS",
        /// None holds, and at least one does not.
        Fail = "FAIL",
        /// Some hold, others do not or were not seen.
        Partial = "PARTIAL",
        /// Nothing could be seen.
        Blocked = "BLOCKED",
    }
}

impl Verdict {
    /// The verdict that follows from results: all PASS gives PASS; no PASS and any FAIL gives FAIL; any PASS otherwise
    /// gives PARTIAL; only SKIP and BLOCKED gives BLOCKED. No results at all show nothing, which is BLOCKED too.
    pub fn of(results: impl IntoIterator<Item = CriterionStatus>) -> Self {
        let (mut passed, mut failed, mut unseen) = (false, false, false);
        for status in results {
            match status {
                CriterionStatus::Pass => passed = true,
                CriterionStatus::Fail => failed = true,
                CriterionStatus::Skip | CriterionStatus::Blocked => unseen = true,
            }
        }
        match (passed, failed, unseen) {
            (true, false, false) => Self::Pass,
            (true, _, _) => Self::Partial,
            (false, true, _) => Self::Fail,
            (false, false, _) => Self::Blocked,
        }
    }

    /// Whether this verdict lets no more through than `other` does: PASS lets work pass, PARTIAL asks a person, FAIL
    /// and BLOCKED hold it back.
    pub fn is_at_most(self, other: Verdict) -> bool {
        let openness = |verdict| match verdict {
            Verdict::Pass => 2,
            Verdict::Partial => 1,
            Verdict::Fail | Verdict::Blocked => 0,
        };
        openness(self) <= openness(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Clause = (Verdict, fn(&[CriterionStatus]) -> bool);

    /// The ruling, clause by clause, each written without looking at the others.
    const CLAUSES: &[Clause] = &[
        (Verdict::Pass, |it| !it.is_empty() && it.iter().all(|status| *status == CriterionStatus::Pass)),
        (Verdict::Fail, |it| !it.contains(&CriterionStatus::Pass) && it.contains(&CriterionStatus::Fail)),
        (Verdict::Partial, |it| {
            it.contains(&CriterionStatus::Pass) && it.iter().any(|status| *status != CriterionStatus::Pass)
        }),
        (Verdict::Blocked, |it| {
            it.iter().all(|status| matches!(status, CriterionStatus::Skip | CriterionStatus::Blocked))
        }),
    ];

    fn rows(length: u32) -> impl Iterator<Item = Vec<CriterionStatus>> {
        let kinds = CriterionStatus::ALL.len();
        (0..kinds.pow(length))
            .map(move |row| (0..length).map(|at| CriterionStatus::ALL[row / kinds.pow(at) % kinds]).collect())
    }

    #[test]
    fn the_verdict_is_that_of_the_one_clause_which_applies() {
        let mut seen = 0;
        for row in (0..=4).flat_map(rows) {
            let applying: Vec<_> = CLAUSES.iter().filter(|(_, applies)| applies(&row)).map(|(it, _)| *it).collect();
            assert_eq!(applying, [Verdict::of(row.iter().copied())], "{row:?}");
            seen += 1;
        }
        assert_eq!(seen, 1 + 4 + 16 + 64 + 256);
    }

    #[test]
    fn the_order_of_results_plays_no_part() {
        for row in rows(4) {
            let mut turned = row.clone();
            turned.rotate_left(1);
            assert_eq!(Verdict::of(turned), Verdict::of(row.iter().rev().copied()), "{row:?}");
        }
    }

    #[test]
    fn only_what_opens_no_further_is_at_most() {
        use Verdict::{Blocked, Fail, Partial, Pass};
        for (one, other, expected) in [
            (Pass, Pass, true),
            (Pass, Partial, false),
            (Pass, Fail, false),
            (Partial, Pass, true),
            (Partial, Blocked, false),
            (Fail, Blocked, true),
            (Blocked, Fail, true),
        ] {
            assert_eq!(one.is_at_most(other), expected, "{one} {other}");
        }
    }
}
