//! Peers, who do their part themselves: a run says for whom it waits.

use super::board::{Awaited, Board};
use super::{Note, Run};
use countersign_contract::show;

/// Says what is awaited of peers that work, once.
pub(super) fn tell(run: &Run<'_>, board: &mut Board) {
    for (task, peer, awaited) in board.awaited() {
        let task = task.as_str();
        match awaited {
            Awaited::Claim => {
                let what = format!(
                    "to claim it: over MCP, over HTTP, or with `countersign task claim {task} --as {} --run {}`",
                    show(&peer),
                    run.setup.run
                );
                run.note(&Note::Awaited { task, peer: &peer, what: &what });
            }
            Awaited::Result { owner, attempt, lease } => {
                run.note(&Note::Begun { task, agent: &owner, attempt, lease });
            }
        }
    }
}
