//! How it stands with what instructions are for, before the next one is handed in.

use super::next::NextStep;
use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::delegation::command::chain;
use countersign_contract::{Int, Text, shape};

shape! {
    /// How it stands with what instructions are for.
    pub closed struct ShowEnd {
        /// What they are for, as a hash.
        pub end: Text<1, 100> = "e357a32c7a1c2de7b120714e2c10994b3cb501bea704adfc01eaf74a239b29a5",
    }
}

shape! {
    /// How it stands with what instructions are for.
    pub struct EndShown {
        /// The last instruction for it outside of a plan; none, if there was none.
        pub last: Option<String>,
        /// Who carried that one out.
        pub executor: Option<String>,
        /// What its requester does next.
        pub step: Option<NextStep>,
        /// Not before this time, in milliseconds since 1970.
        pub not_before: Option<Int>,
    }
}

impl View for ShowEnd {
    const INFO: ViewInfo = ViewInfo { id: "delegation.end", summary: "How it stands with what instructions are for" };
    type Shown = EndShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        chain::needs(seen, self.end.as_str())
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<EndShown, Refusal> {
        let Some((last, after)) = chain::standing(seen, self.end.as_str(), moment.now_ms) else {
            return Ok(EndShown { last: None, executor: None, step: None, not_before: None });
        };
        Ok(EndShown {
            last: Some(last.instruction_id),
            executor: Some(last.executor),
            step: Some(after.step),
            not_before: after.not_before.map(|at| at.unsigned_abs().into()),
        })
    }
}
