//! What was found out about a criterion by whoever collects evidence.

use super::PromiseCriterionId;
use crate::validation::evidence::EvidenceKind;
use crate::validation::verdict::CriterionStatus;
use countersign_contract::{Int, List, Text, Untrusted, shape};

shape! {
    /// A piece of evidence: what was looked at, how, and what came of it.
    pub closed struct Evidence {
        /// The criterion that it speaks to.
        pub criterion: PromiseCriterionId,
        /// Its kind.
        pub kind: EvidenceKind,
        /// The SHA-256 of the check that was carried out, in canonical form.
        pub check: Option<Text<64, 64>> = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        /// What it shows. BLOCKED is what could not be found out.
        pub status: CriterionStatus,
        /// The same in a sentence.
        pub says: Untrusted<Text<1, 4000>> = "12 tests passed",
        /// The program that was run.
        pub command: Option<List<Text>>,
        /// How it ended.
        pub exit_code: Option<Int<-2147483648, 2147483647>>,
        /// The signal that ended it.
        pub signal: Option<Int>,
        /// Whether it took too long.
        pub timed_out: Option<bool>,
        /// How many tests passed.
        pub passed: Option<Int>,
        /// How many failed.
        pub failed: Option<Int>,
        /// How many did not run.
        pub skipped: Option<Int>,
        /// What was said, without secrets and cut in the middle.
        pub output: Option<Untrusted<String>>,
        /// The SHA-256 of all that was captured.
        pub output_sha256: Option<Text<64, 64>> = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        /// The file that was looked at.
        pub path: Option<Text>,
        /// How large it is.
        pub size_bytes: Option<Int>,
        /// The SHA-256 of its content.
        pub sha256: Option<Text<64, 64>> = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        /// The address that was asked.
        pub url: Option<Text>,
        /// The status that it answered with.
        pub status_code: Option<Int<100, 599>>,
        /// A picture that was taken, below the folder of the run.
        pub picture: Option<Text>,
        /// How long it took, in milliseconds.
        pub took_ms: Option<Int>,
    }
}
