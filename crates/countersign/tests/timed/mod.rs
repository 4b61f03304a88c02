//! An engine in memory, under a clock that the test moves.

use countersign_contract::{Checked, Checker, Outside, Settings};
use countersign_domain::deciding::{Role, Tree};
use countersign_engine::{Call, Engine, Failure, Reply, World};
use countersign_ledger::{Clock, Memory, Time};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A world in which there is nothing but the time of the ledger.
pub struct Timed {
    hand: Arc<AtomicI64>,
    settings: Settings,
}

impl World for Timed {
    fn checker(&self) -> Checker<'_> {
        Checker { contracts: countersign_domain::contracts(), foreign: &[], settings: &self.settings, raised: &[] }
    }

    fn outside(&self) -> Outside {
        let now = jiff::Timestamp::from_millisecond(self.hand.load(Ordering::SeqCst)).unwrap();
        Outside { now: Some(now), ..Outside::default() }
    }

    fn look_for_files(&self, _: &Checked, _: &str) -> Option<Outside> {
        None
    }

    fn tree(&self, _: Option<&str>) -> Option<Tree> {
        None
    }
}

pub struct Shop {
    pub engine: Engine,
    pub world: Timed,
}

impl Shop {
    pub fn new() -> Self {
        let (clock, hand) = Clock::manual(Time(1_800_000_000_000));
        let engine = Engine::create(Box::new(Memory::new(clock)), "project").unwrap();
        let shop = Self { engine, world: Timed { hand, settings: Settings::default() } };
        shop.ask("ana", "project.init", json!({ "name": "shop" })).unwrap();
        shop
    }

    pub fn ask(&self, actor: &str, id: &str, request: Value) -> Result<Reply, Failure> {
        let call = Call { roles: vec![Role::Owner], ..Call::declared(actor) };
        self.engine.ask(&self.world, &call, id, &request.to_string())
    }

    pub fn wait(&self, ms: i64) {
        self.world.hand.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn time(&self, later: i64) -> String {
        let now = self.world.hand.load(Ordering::SeqCst) + later;
        jiff::Timestamp::from_millisecond(now).unwrap().to_string()
    }

    pub fn look(&self, id: &str, question: Value) -> Value {
        self.engine.look(&self.world, &Call::declared("ana"), id, &question.to_string()).unwrap()
    }
}
