//! Who needs whom among records of one contract, and the circles in it.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The needs of records, by name. The knots, in which records need each other, are found once, when first asked for, in
/// time and memory linear in the links.
#[derive(Debug, Default)]
pub struct Links {
    numbers: HashMap<(&'static str, String), usize>,
    names: Vec<String>,
    needs: Vec<Vec<usize>>,
    knots: OnceLock<Vec<usize>>,
}

/// How many records of a circle are named. A longer one is named by its beginning.
const NAMED_MAX: usize = 16;

impl Links {
    /// Notes that a record needs another of its own contract.
    pub fn add(&mut self, contract: &'static str, name: &str, needs: &str) {
        let from = self.number(contract, name);
        let to = self.number(contract, needs);
        self.needs[from].push(to);
        self.knots.take();
    }

    fn number(&mut self, contract: &'static str, name: &str) -> usize {
        let next = self.names.len();
        let number = *self.numbers.entry((contract, name.to_owned())).or_insert(next);
        if number == next {
            self.names.push(name.to_owned());
            self.needs.push(Vec::new());
        }
        number
    }

    /// Whether a record is known here, so that [`Links::circle`] knows all about it.
    pub fn knows(&self, contract: &'static str, name: &str) -> bool {
        self.numbers.contains_key(&(contract, name.to_owned()))
    }

    /// A number that all records have in common that need each other, by whatever circles; none for a record on no circle.
    pub fn knot(&self, contract: &'static str, name: &str) -> Option<usize> {
        let number = *self.numbers.get(&(contract, name.to_owned()))?;
        let knots = self.knots.get_or_init(|| knots(&self.needs));
        self.needs[number].iter().any(|next| knots[*next] == knots[number]).then(|| knots[number])
    }

    /// A circle that a record is on, beginning with it: each needs the next, and the last the first. Of a long one the
    /// beginning.
    pub fn circle(&self, contract: &'static str, name: &str) -> Option<Vec<String>> {
        let start = *self.numbers.get(&(contract, name.to_owned()))?;
        let knots = self.knots.get_or_init(|| knots(&self.needs));
        let knot = knots[start];
        let inside = |number: &&usize| knots[**number] == knot;
        if !self.needs[start].iter().any(|number| inside(&number)) {
            return None;
        }
        // Breadth first, so that the circle is a shortest one; it ends as soon as one long enough to name is found.
        let mut before = HashMap::new();
        let mut open = std::collections::VecDeque::from([start]);
        while let Some(here) = open.pop_front() {
            for next in self.needs[here].iter().filter(inside) {
                if *next == start || before.len() >= NAMED_MAX * NAMED_MAX {
                    return Some(self.way(start, here, &before));
                }
                if *next != start && !before.contains_key(next) {
                    before.insert(*next, here);
                    open.push_back(*next);
                }
            }
        }
        None
    }

    fn way(&self, start: usize, last: usize, before: &HashMap<usize, usize>) -> Vec<String> {
        let mut way = Vec::new();
        let mut here = last;
        while here != start {
            way.push(self.names[here].clone());
            let Some(earlier) = before.get(&here) else { break };
            here = *earlier;
        }
        way.push(self.names[start].clone());
        way.reverse();
        way.truncate(NAMED_MAX);
        way
    }
}

/// For each record the number of its knot: two are in one knot when each is needed by the other, if by way of others.
/// Tarjan's algorithm, without recursion.
fn knots(needs: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; needs.len()];
    let mut low = vec![0; needs.len()];
    let mut knot = vec![UNSEEN; needs.len()];
    let mut stack = Vec::new();
    let mut count = 0;
    for root in 0..needs.len() {
        let mut path = Vec::new();
        if order[root] == UNSEEN {
            path.push((root, 0));
        }
        while let Some((here, next)) = path.last_mut() {
            let here = *here;
            if *next == 0 {
                order[here] = count;
                low[here] = count;
                count += 1;
                stack.push(here);
            }
            if let Some(need) = needs[here].get(*next) {
                *next += 1;
                if order[*need] == UNSEEN {
                    path.push((*need, 0));
                } else if knot[*need] == UNSEEN {
                    low[here] = low[here].min(order[*need]);
                }
                continue;
            }
            if low[here] == order[here] {
                while let Some(member) = stack.pop() {
                    knot[member] = here;
                    if member == here {
                        break;
                    }
                }
            }
            path.pop();
            if let Some((above, _)) = path.last() {
                low[*above] = low[*above].min(low[here]);
            }
        }
    }
    knot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_from_each_of_its_members_and_from_no_one_else() {
        let mut links = Links::default();
        for (name, needs) in [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a"), ("e", "e")] {
            links.add("t", name, needs);
        }
        let circle = |name| links.circle("t", name);
        assert_eq!(circle("a"), None);
        assert_eq!(circle("b"), Some(vec!["b".to_owned(), "c".to_owned()]));
        assert_eq!(circle("c"), Some(vec!["c".to_owned(), "b".to_owned()]));
        assert_eq!(circle("d"), None);
        assert_eq!(circle("e"), Some(vec!["e".to_owned()]));
    }

    #[test]
    fn a_ring_of_many_is_found_from_everywhere_and_named_by_its_beginning() {
        let mut links = Links::default();
        for number in 0..20_000usize {
            links.add("t", &number.to_string(), &((number + 1) % 20_000).to_string());
            links.add("t", &number.to_string(), &number.saturating_sub(7).to_string());
        }
        for name in ["0", "9999", "19999"] {
            let circle = links.circle("t", name).unwrap_or_default();
            assert_eq!(circle.first().map(String::as_str), Some(name));
            assert!(circle.len() <= NAMED_MAX);
        }
        assert_eq!(links.circle("other", "0"), None);
    }
}
