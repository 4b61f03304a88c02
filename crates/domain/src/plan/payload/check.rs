//! What a machine can decide about a criterion.

use super::{Expected, OneOrMany, Span};
use crate::validation::evidence::EvidenceKind;
use crate::work::payload::Resource;
use countersign_contract::{Int, List, Text, pattern, shape};

shape! {
    /// One check. It is of the kind whose field is there; exactly one is.
    pub closed struct Check {
        /// Tests to run: an argument vector. Their counts are read; a skipped test is not passed, and none at all is a failure.
        pub test: Option<List<Text, 1>> = ["python3", "-m", "pytest", "-q", "tests/test_round.py"],
        /// A program that must end with 0: an argument vector.
        pub command: Option<List<Text, 1>>,
        /// A file, and what it must be.
        pub file: Option<FileCheck>,
        /// What was changed must be what was declared, and lie inside the scope.
        pub diff: Option<bool>,
        /// Something must listen on this port of this machine.
        pub port: Option<Int<1, 65535>>,
        /// An address that must answer.
        pub http: Option<HttpCheck>,
        /// A page that must show something in a browser.
        pub page: Option<PageCheck>,
        /// A question for a person, who answers for it.
        pub human: Option<Text>,
        /// How long it may take.
        pub timeout: Option<Span>,
    }
}

pattern! {
    /// A SHA-256 in hexadecimal.
    pub struct Sha256 {
        pattern: "^[0-9a-f]{64}$",
        example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        says: "a SHA-256: 64 hexadecimal digits",
        test: |text| text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
    }
}

pattern! {
    /// An address over HTTP.
    pub struct Url {
        pattern: "^https?://[!-.0-~]+(/[!-~]*)?$",
        example: "http://127.0.0.1:8000/health",
        says: "an address that begins with http:// or https://",
        test: |text| {
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            let is_plain = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_graphic());
            rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && is_plain(rest))
        },
    }
}

shape! {
    /// A file, and what it must be.
    pub closed struct FileCheck {
        /// The file.
        pub path: Resource = "billing/round.py",
        /// Whether it must be there; it must, if it is not said.
        pub exists: Option<bool>,
        /// How many bytes it has at least.
        pub min_size: Option<Int>,
        /// How many bytes it has at most.
        pub max_size: Option<Int>,
        /// The SHA-256 of its content.
        pub sha256: Option<Sha256>,
        /// What it must contain.
        pub contains: Option<OneOrMany<Text>>,
        /// What it must not contain.
        pub not_contains: Option<OneOrMany<Text>> = "float(",
        /// A place in it, as a JSON pointer.
        pub json_pointer: Option<String>,
        /// What must stand there; null is a value like any other.
        pub equals: Expected,
    }
}

shape! {
    /// An address, and what it must answer. Only hosts that the plan allows are asked.
    pub closed struct HttpCheck {
        /// The address.
        pub url: Url,
        /// How it is asked; GET, if it is not said.
        pub method: Option<Text<1, 10>>,
        /// The status; 200, if it is not said.
        pub status: Option<Int<100, 599>>,
        /// What the answer must contain.
        pub contains: Option<OneOrMany<Text>>,
    }
}

shape! {
    /// A page, and what it must show.
    pub closed struct PageCheck {
        /// The address.
        pub url: Url,
        /// What must be read on it.
        pub contains: Option<OneOrMany<Text>>,
    }
}

impl Check {
    /// The kinds of evidence that it gives: one, if it is as it should be.
    pub fn kinds(&self) -> Vec<EvidenceKind> {
        let kinds = [
            (self.test.is_some(), EvidenceKind::Test),
            (self.command.is_some(), EvidenceKind::Command),
            (self.file.is_some(), EvidenceKind::File),
            (self.diff.is_some(), EvidenceKind::Diff),
            (self.port.is_some(), EvidenceKind::Port),
            (self.http.is_some(), EvidenceKind::Http),
            (self.page.is_some(), EvidenceKind::Page),
            (self.human.is_some(), EvidenceKind::Statement),
        ];
        kinds.into_iter().filter(|(there, _)| *there).map(|(_, kind)| kind).collect()
    }

    /// The program that it runs, if it runs one.
    pub fn program(&self) -> Option<&[Text]> {
        self.test.as_deref().or(self.command.as_deref())
    }
}
