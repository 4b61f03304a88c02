//! Writing an event in the one form that it has.
//!
//! Names need no escaping, and so an event is its labels with what is copied between them. A general writer looks at every
//! letter of every name, and that is a good part of what an append costs.

use crate::event::{Binding, Event};
use crate::hash::Hash;
use serde::Serialize;
use std::fmt::{Display, Write};

/// What stands in an envelope beside facts and names, about.
const ENVELOPE_BYTES: usize = 1024;

/// The canonical bytes of an event: what its fields are in the order of their names, without those that are empty.
pub(crate) fn event(event: &Event<'_>) -> String {
    let mut out = Out(String::with_capacity(event.facts.get().len() + ENVELOPE_BYTES));
    out.name("{\"actor\":", event.actor);
    out.name(",\"authn\":", event.authn);
    out.perhaps(",\"cause\":", event.cause);
    out.name(",\"class\":", event.class);
    out.name(",\"command\":", event.command);
    if !event.erase.is_empty() {
        out.rare(",\"erase\":", &event.erase);
    }
    out.plain(",\"facts\":", event.facts.get());
    out.name(",\"id\":", event.id);
    out.name(",\"kind\":", event.kind);
    if let Some(change) = &event.lease {
        out.rare(",\"lease\":", change);
    }
    out.name(",\"matter\":", event.matter);
    if let Some(binding) = &event.once {
        out.binding(binding);
    }
    out.hash(",\"prev\":", event.prev);
    out.name(",\"project\":", event.project);
    out.perhaps(",\"run\":", event.run);
    out.number(",\"seq\":", event.seq);
    out.name(",\"taint\":", event.taint);
    if !event.texts.is_empty() {
        out.rare(",\"texts\":", &event.texts);
    }
    out.shown(",\"time\":\"", event.time);
    out.0.push('"');
    if let Some(held) = &event.under {
        out.rare(",\"under\":", held);
    }
    out.number(",\"v\":", u64::from(event.v));
    out.0.push('}');
    out.0
}

struct Out(String);

impl Out {
    fn plain(&mut self, label: &str, text: &str) {
        self.0.push_str(label);
        self.0.push_str(text);
    }

    fn name(&mut self, label: &str, name: &str) {
        let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        if name.bytes().fold(false, |found, byte| found | special(byte)) {
            return self.rare(label, name);
        }
        self.plain(label, "\"");
        self.plain(name, "\"");
    }

    fn perhaps(&mut self, label: &str, name: Option<&str>) {
        if let Some(name) = name {
            self.name(label, name);
        }
    }

    fn hash(&mut self, label: &str, hash: Hash) {
        self.plain(label, "\"");
        hash.with_hex(|digits| self.plain(digits, "\""));
    }

    fn number(&mut self, label: &str, number: u64) {
        let (mut digits, mut at, mut rest) = ([b'0'; 20], 20, number);
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        // Digits are ASCII.
        self.plain(label, std::str::from_utf8(&digits[at..]).unwrap_or_default());
    }

    /// What is written as it is shown to people. Text takes whatever is written to it.
    fn shown(&mut self, label: &str, what: impl Display) {
        self.0.push_str(label);
        let _ = write!(self.0, "{what}");
    }

    fn binding(&mut self, binding: &Binding<'_>) {
        self.name(",\"once\":{\"code\":", binding.code);
        self.number(",\"events\":", binding.events);
        self.name(",\"key\":", binding.key);
        self.hash(",\"request\":", binding.request);
        self.0.push('}');
    }

    /// What few events have. Strings, numbers and lists of them have no value that cannot be written.
    fn rare<T: Serialize + ?Sized>(&mut self, label: &str, what: &T) {
        self.plain(label, &serde_json::to_string(what).unwrap_or_default());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::event::{Held, LeaseChange};
    use crate::facts::Facts;
    use crate::time::Time;
    use proptest::prelude::*;
    use std::sync::OnceLock;

    /// Whatever a name is made of, also what no command may bring: what was once recorded is read and written as it is.
    fn any_name() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z.-]{1,20}", ".{0,20}", "[\\x00-\\x20\"\\\\/\u{7f}\u{2028}é]{1,9}"]
    }

    proptest! {
        /// The general writer is the second opinion.
        #[test]
        fn an_event_is_written_as_the_general_writer_writes_it(
            names in prop::collection::vec(any_name(), 14),
            (seq, v, events) in (any::<u64>(), any::<u32>(), any::<u64>()),
            has in prop::collection::vec(any::<bool>(), 7),
        ) {
            let name = |at: usize| names[at].as_str();
            let hash = Hash::of(name(0).as_bytes());
            let granted = LeaseChange::Grant { holder: name(12).to_owned(), name: name(13).to_owned(), ttl: 5 };
            let event = Event {
                actor: name(0),
                authn: name(1),
                cause: has[0].then(|| name(2)),
                class: name(3),
                command: name(4),
                erase: if has[1] { vec![(3, 0), (seq, 1)] } else { Vec::new() },
                facts: Facts::of_value(r#"{"a":[1,{"b":null}],"c":"é\n"}"#),
                id: name(5),
                kind: name(6),
                lease: has[2].then_some(granted),
                matter: name(7),
                once: has[3].then(|| Binding { code: name(8), events, key: name(9), request: hash }),
                prev: hash,
                project: name(10),
                run: has[4].then(|| name(11)),
                seq,
                taint: name(1),
                texts: if has[5] { vec![hash, Hash::NONE] } else { Vec::new() },
                time: Time(1_769_846_400_000),
                under: has[6].then(|| Held { name: name(9).to_owned(), number: seq }),
                v,
                parsed: OnceLock::new(),
            };
            prop_assert_eq!(event.write(), serde_json::to_string(&event).unwrap());
        }
    }
}
