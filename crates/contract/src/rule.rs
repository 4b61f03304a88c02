//! What a rule is, and how one is declared.

use crate::contract::Subject;
use crate::report::Report;
use countersign_diagnostic::{Code, Severity};

/// What is said about a rule, everywhere: `rules`, `explain`, the reference.
#[derive(Debug)]
pub struct RuleInfo {
    /// The stable id, which is also the name of its file.
    pub id: &'static str,
    /// The code that a finding of it leads to.
    pub code: Code,
    /// How much a finding of it weighs.
    pub severity: Severity,
    /// One line.
    pub summary: &'static str,
    /// Why it is there, with rejected and accepted examples, in Markdown. The examples are its tests.
    pub explanation: &'static str,
    /// The contract it belongs to; `any` for rules about shape and text.
    pub contract: &'static str,
    /// The source file that declares it.
    pub file: &'static str,
}

/// A rule of the contract `T`.
#[derive(Debug)]
pub struct Rule<T: 'static> {
    /// What is said about it.
    pub info: RuleInfo,
    /// Finds what is wrong. Touches nothing but its arguments.
    pub check: fn(&Subject<'_, T>, &mut Report),
}

/// Declares a rule. The doc comment is its explanation; the fenced blocks in it are its tests (see
/// [`crate::prove`]).
///
/// A rule of a contract names it and its check; a rule about shape, which the reader itself applies, has neither.
#[macro_export]
macro_rules! rule {
    (
        $(#[doc = $doc:literal])*
        pub static $NAME:ident : $Contract:ty = {
            id: $id:literal,
            code: $code:ident,
            severity: $severity:ident,
            summary: $summary:literal,
            check: $check:expr $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        pub static $NAME: $crate::Rule<$Contract> = $crate::Rule {
            info: $crate::RuleInfo {
                id: $id,
                code: $crate::diagnostic::Code::$code,
                severity: $crate::diagnostic::Severity::$severity,
                summary: $summary,
                explanation: concat!($($doc, "\n"),*),
                contract: <$Contract as $crate::Contract>::NAME,
                file: file!(),
            },
            check: $check,
        };
    };
    (
        $(#[doc = $doc:literal])*
        pub static $NAME:ident = {
            id: $id:literal,
            code: $code:ident,
            severity: $severity:ident,
            summary: $summary:literal $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        pub static $NAME: $crate::RuleInfo = $crate::RuleInfo {
            id: $id,
            code: $crate::diagnostic::Code::$code,
            severity: $crate::diagnostic::Severity::$severity,
            summary: $summary,
            explanation: concat!($($doc, "\n"),*),
            contract: "any",
            file: file!(),
        };
    };
}
