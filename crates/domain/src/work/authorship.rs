//! Who had a hand in a task, as names that documents can be asked for by.
//!
//! A validator's answer names a task and a person, and no run. Documents of work therefore also go by the task alone, and
//! by the task with each person who had a hand in it: whether somebody took part is then one question, however many
//! documents there are.

use countersign_contract::scan::{plain_name, same_name};

/// The name of documents that speak of a task, whatever its run.
pub fn of_task(task: &str) -> String {
    format!("task/{}", task.to_ascii_lowercase())
}

/// The name of documents in which a person has a hand in a task, whatever its run.
pub fn by(task: &str, person: &str) -> String {
    format!("{}/by/{}", of_task(task), plain_name(person))
}

/// Whether two names are those of one person. Case, white space around a name and letters that look like others do not make
/// another person of anyone.
pub fn same_person(one: &str, other: &str) -> bool {
    same_name(one, other)
}

/// The names under which a document of several tasks is found, each task with who has it. An empty name is nobody.
pub(crate) fn names<'a>(hands: impl Iterator<Item = (&'a str, &'a str)>) -> impl Iterator<Item = String> {
    hands.flat_map(|(task, person)| {
        let by = (!person.trim().is_empty()).then(|| by(task, person));
        std::iter::once(of_task(task)).chain(by)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_the_same_however_the_name_is_written() {
        for (one, other, same) in [
            ("worker-7", "Worker-7", true),
            (" worker-7", "worker-7\n", true),
            ("ÄNNE", "änne", true),
            ("me", "m\u{435}", true),
            ("me", "\u{ff4d}\u{ff45}", true),
            ("wor\u{200b}ker-7", "worker-7", true),
            ("worker-7", "worker-8", false),
            ("worker", "worker-7", false),
        ] {
            assert_eq!(same_person(one, other), same, "{one} {other}");
            assert_eq!(by("T-1", one) == by("T-1", other), same, "{one} {other}");
        }
        assert_eq!(by("T-1", "a"), by("t-1", "a"));
        assert_ne!(by("T-1", "a"), by("T-11", "a"));
    }

    #[test]
    fn nobody_has_no_name() {
        let names: Vec<String> = names([("T-1", " "), ("T-2", "a")].into_iter()).collect();
        assert_eq!(names, ["task/t-1", "task/t-2", "task/t-2/by/a"]);
    }
}
