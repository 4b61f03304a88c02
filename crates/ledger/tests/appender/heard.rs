//! What the appender said, put together.

use std::collections::{BTreeMap, BTreeSet};

/// How a command was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Acknowledged, with its first and last event.
    Ok(u64, u64),
    /// Nothing was written, and why.
    Not(String),
    /// Nobody knows, and why.
    Unknown(String),
}

/// Everything that was said.
#[derive(Debug, Default, Clone)]
pub struct Heard {
    /// The keys that were asked for.
    pub asked: BTreeSet<String>,
    /// How they were answered, in order.
    pub answers: BTreeMap<String, Vec<Answer>>,
    /// Everything else.
    pub said: Vec<String>,
}

impl Heard {
    /// Takes a line in.
    pub fn take(&mut self, line: &str) {
        let mut words = line.splitn(3, ' ');
        let (verb, key, rest) = (words.next().unwrap(), words.next().unwrap_or(""), words.next().unwrap_or(""));
        let answer = match verb {
            "ask" => {
                self.asked.insert(key.to_owned());
                return;
            }
            "ok" => {
                let (first, last) = rest.split_once(' ').unwrap();
                Answer::Ok(first.parse().unwrap(), last.parse().unwrap())
            }
            "not" => Answer::Not(rest.to_owned()),
            "unknown" => Answer::Unknown(rest.to_owned()),
            _ => return self.said.push(line.to_owned()),
        };
        self.answers.entry(key.to_owned()).or_default().push(answer);
    }

    /// The keys that were acknowledged, with what was said to be their events.
    pub fn acknowledged(&self) -> BTreeMap<String, (u64, u64)> {
        let ok = |answers: &Vec<Answer>| {
            answers.iter().find_map(|it| match it {
                Answer::Ok(first, last) => Some((*first, *last)),
                _ => None,
            })
        };
        self.answers.iter().filter_map(|(key, answers)| Some((key.clone(), ok(answers)?))).collect()
    }

    /// The keys that were asked for and not acknowledged.
    pub fn open(&self) -> Vec<String> {
        let known = self.acknowledged();
        self.asked.iter().filter(|key| !known.contains_key(*key)).cloned().collect()
    }

    /// The keys of which the last word is that they were not written.
    pub fn refused(&self) -> Vec<String> {
        let refused = |answers: &Vec<Answer>| matches!(answers.last(), Some(Answer::Not(_)));
        self.answers.iter().filter(|(_, answers)| refused(answers)).map(|(key, _)| key.clone()).collect()
    }

    /// Compares what was said with what is there.
    pub fn holds(&self, there: &BTreeMap<String, (u64, u64)>) {
        for (key, events) in self.acknowledged() {
            assert_eq!(there.get(&key), Some(&events), "{key} was acknowledged");
        }
        for key in self.refused() {
            assert_eq!(there.get(&key), None, "{key} was said not to be written");
        }
    }
}
