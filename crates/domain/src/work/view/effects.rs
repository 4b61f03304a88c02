//! What was begun in the world and has not ended, as far as anybody said.

use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::RunId;
use crate::work::effect::{self, effect_of};
use crate::work::picking;
use countersign_contract::{Int, Json, List, shape};

const EFFECTS_MAX: usize = 1000;

shape! {
    /// Something that was begun in the world.
    pub struct EffectShown {
        /// The task.
        pub task_id: String,
        /// The lease under which it is done.
        pub lease: Int,
        /// What is done: `agent`, `validator`, `judge`, `landing` or `notice`.
        pub kind: String,
        /// Who does it, where several can at once.
        pub who: Option<String>,
        /// What is to be done when nobody knows how it ended: `repeat`, `probe` or `ask`.
        pub recovery: String,
        /// How the process is known again.
        pub mark: Option<Json>,
    }
}

shape! {
    /// What was begun in the world for a run and has not ended, as far as anybody said.
    pub struct EffectsShown {
        /// The run.
        pub run_id: String,
        /// The effects.
        pub effects: List<EffectShown>,
    }
}

shape! {
    /// What was begun in the world for a run and has not ended, as far as anybody said.
    pub closed struct ListEffects {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
    }
}

impl View for ListEffects {
    const INFO: ViewInfo =
        ViewInfo { id: "effect.list", summary: "What was begun in the world for a run and has not ended" };
    type Shown = EffectsShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = effect::open(&run, EFFECTS_MAX);
        needs.extend(seen.range_so_far(&range).into_iter().flatten().map(|(_, key)| Need::Entity(key.clone())));
        needs.push(Need::Range(range));
        needs
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<EffectsShown, Refusal> {
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let range = effect::open(&run.run, EFFECTS_MAX);
        let rows = seen.range(&range).filter_map(|(_, key)| effect_of(seen.entity(key)));
        let effects = rows.map(|row| EffectShown {
            task_id: row.task,
            lease: row.lease.into(),
            kind: row.kind,
            who: row.who,
            recovery: row.recovery,
            mark: Some(row.mark).filter(|mark| !mark.is_null()).map(Json::from),
        });
        let effects: Vec<EffectShown> = effects.collect();
        Ok(EffectsShown { run_id: run.run, effects: effects.into() })
    }
}
