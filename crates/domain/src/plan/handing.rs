//! What tasks of a plan hand over to each other: who waits for whom, and which trace a handoff belongs to.

use super::payload::{HandoffEdge, Plan, PlannedTask};
use crate::ids::TaskId;
use countersign_contract::sha256_hex;
use std::collections::BTreeMap;

impl Plan {
    /// The handoffs, in the order of the plan.
    pub fn edges(&self) -> &[HandoffEdge] {
        self.handoffs.as_deref().unwrap_or_default()
    }

    /// The tasks that a task waits for: those that it names, and those that hand something over to it.
    pub fn needs<'p>(&'p self, task: &'p PlannedTask) -> Vec<&'p TaskId> {
        let mut needs: Vec<&TaskId> = Vec::new();
        let handed = self.edges().iter().filter(|edge| edge.to == task.id).map(|edge| &edge.from);
        for id in task.depends_on.iter().flat_map(|ids| ids.iter()).chain(handed) {
            if !needs.contains(&id) {
                needs.push(id);
            }
        }
        needs
    }

    /// The tasks by which a handoff from a task came, from the one that began to that task itself. Where several hand
    /// something over to a task, what it hands on belongs to the first of them.
    pub fn way<'p>(&'p self, from: &'p TaskId) -> Vec<&'p TaskId> {
        let mut way = vec![from];
        while let Some(edge) = self.edges().iter().find(|edge| Some(&&edge.to) == way.last())
            && !way.contains(&&edge.from)
        {
            way.push(&edge.from);
        }
        way.reverse();
        way
    }

    /// The trace of a handoff from a task, for ever the same in one run: so a runner that was ended finds again what it had
    /// sent.
    pub fn trace(&self, run: &str, from: &TaskId) -> String {
        let way = self.way(from);
        let root = way.first().map_or(from, |root| *root);
        let digest = sha256_hex(format!("{run}/{root}").as_bytes());
        let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default();
        // The contract asks for a UUID of version 4, whose version and variant stand at fixed places.
        format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
    }

    /// How many tasks the longest chain of handoffs has that ends with a task. Nothing, where tasks wait for each other.
    pub fn chain_length(&self, task: &TaskId) -> Option<usize> {
        let mut known = BTreeMap::new();
        self.length(task.as_str(), 0, &mut known)
    }

    fn length<'p>(&'p self, task: &'p str, depth: usize, known: &mut BTreeMap<&'p str, usize>) -> Option<usize> {
        if let Some(length) = known.get(task) {
            return Some(*length);
        }
        if depth > self.edges().len() {
            return None;
        }
        let mut longest = 0;
        for edge in self.edges().iter().filter(|edge| edge.to.as_str() == task) {
            longest = longest.max(self.length(edge.from.as_str(), depth + 1, known)?);
        }
        known.insert(task, longest + 1);
        Some(longest + 1)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::ids::is_uuid_v4;
    use crate::plan::command::read;
    use serde_json::{Value, json};

    const RUN: &str = "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4";

    fn plan(edges: &[(u32, u32)], tasks: u32) -> Plan {
        let id = |n: &u32| format!("T-{n}");
        let task = |n: u32| {
            json!({ "id": id(&n), "title": "t", "agent": "coder", "lock_scope": [format!("src/{n}")],
                "acceptance": [{ "text": "holds", "check": { "test": ["true"] } }] })
        };
        let edges: Vec<Value> = edges.iter().map(|(from, to)| json!({ "from": id(from), "to": id(to) })).collect();
        let tasks: Vec<Value> = (1..=tasks).map(task).collect();
        let plan = json!({ "plan": "1.0", "objective": "o", "agents": { "coder": { "command": ["true"] } },
            "tasks": tasks, "handoffs": edges });
        read(&plan.to_string()).unwrap()
    }

    #[test]
    fn what_is_handed_over_is_waited_for_and_belongs_to_the_trace_of_who_began() {
        let plan = plan(&[(1, 2), (2, 4), (3, 4), (4, 5)], 5);
        let task = |n: usize| &plan.tasks[n - 1];
        let ids = |ids: Vec<&TaskId>| ids.iter().map(|id| id.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(ids(plan.needs(task(4))), ["T-2", "T-3"]);
        assert_eq!(ids(plan.needs(task(1))), Vec::<String>::new());
        assert_eq!(ids(plan.way(&task(4).id)), ["T-1", "T-2", "T-4"]);
        let trace = |n: usize| plan.trace(RUN, &task(n).id);
        assert!(is_uuid_v4(&trace(1)), "{}", trace(1));
        assert_eq!(trace(1), trace(4));
        assert_ne!(trace(1), trace(3));
        assert_ne!(trace(1), plan.trace("another run", &task(1).id));
        let lengths = [1, 2, 1, 3, 4].map(Some);
        assert_eq!([1, 2, 3, 4, 5].map(|n| plan.chain_length(&task(n).id)), lengths);
    }

    #[test]
    fn a_circle_has_no_length_and_every_way_comes_to_an_end() {
        let plan = plan(&[(1, 2), (2, 1), (2, 2)], 2);
        for task in plan.tasks.iter() {
            assert_eq!(plan.chain_length(&task.id), None);
            assert!(plan.way(&task.id).len() <= 2);
        }
    }
}
