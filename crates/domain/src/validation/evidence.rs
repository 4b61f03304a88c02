//! Kinds of evidence, and which is weaker than which.

use countersign_contract::choice;

choice! {
    /// What shows that a criterion holds.
    pub enum EvidenceKind {
        /// Somebody's word, written down.
        Statement = "statement",
        /// A file that is there, with what it should hold.
        File = "file",
        /// What differs from the base, against what was declared.
        Diff = "diff",
        /// Something listens on a port.
        Port = "port",
        /// An answer over HTTP.
        Http = "http",
        /// A program that ends well.
        Command = "command",
        /// A page in a browser.
        Page = "page",
        /// Tests that ran, with counts.
        Test = "test",
    }
}

impl EvidenceKind {
    /// Whether evidence of this kind is enough where `asked` is. Kinds that show different things do not stand in for each
    /// other; a person's statement is enough only where one was asked for.
    pub fn is_enough_for(self, asked: EvidenceKind) -> bool {
        use EvidenceKind::{Command, File, Http, Page, Port, Test};
        match asked {
            asked if asked == self => true,
            // Tests are run by a command, and say more.
            Command => self == Test,
            // What answers over HTTP listens, and a page answers over HTTP.
            Port => matches!(self, Http | Page),
            Http => self == Page,
            File => false,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EvidenceKind::{self, Command, Http, Page, Port, Test};

    #[test]
    fn only_what_says_more_stands_in() {
        let more = [(Test, Command), (Http, Port), (Page, Port), (Page, Http)];
        for one in EvidenceKind::ALL {
            for asked in EvidenceKind::ALL {
                let enough = one == asked || more.contains(&(*one, *asked));
                assert_eq!(one.is_enough_for(*asked), enough, "{one} for {asked}");
            }
        }
    }
}
