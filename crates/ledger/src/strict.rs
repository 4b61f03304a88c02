//! Reading an event whose bytes have the one form that they may have, in one pass.
//!
//! To read, to write again and compare, and to look for what RFC 8785 does not allow are three passes, and they are most of
//! what going along a chain costs. An event that is as it must be shows that while it is read. One that is not gets no
//! answer here: the three passes say what is wrong with it.

use crate::canonical::Reader;
use crate::event::{Binding, Event};
use crate::facts::Facts;
use crate::hash::Hash;
use crate::time::Time;
use serde::{Serialize, de::DeserializeOwned};
use std::sync::OnceLock;

/// The event that these bytes are, if they are what [`Event::write`] writes. The fields are asked for in the order in which
/// they stand.
pub(crate) fn event(body: &str) -> Option<Event<'_>> {
    let mut from = Fields(Reader::new(body));
    let event = Event {
        actor: from.name("{\"actor\":\"")?,
        authn: from.name(",\"authn\":\"")?,
        cause: from.perhaps(",\"cause\":\"", Fields::rest_of_name)?,
        class: from.name(",\"class\":\"")?,
        command: from.name(",\"command\":\"")?,
        erase: from
            .perhaps(",\"erase\":", |from| from.rare().filter(|it: &Vec<_>| !it.is_empty()))?
            .unwrap_or_default(),
        facts: from.after(",\"facts\":", Fields::value).map(Facts::of_value)?,
        id: from.name(",\"id\":\"")?,
        kind: from.name(",\"kind\":\"")?,
        lease: from.perhaps(",\"lease\":", Fields::rare)?,
        matter: from.name(",\"matter\":\"")?,
        once: from.perhaps(",\"once\":", Fields::binding)?,
        prev: from.after(",\"prev\":\"", Fields::rest_of_hash)?,
        project: from.name(",\"project\":\"")?,
        run: from.perhaps(",\"run\":\"", Fields::rest_of_name)?,
        seq: from.after(",\"seq\":", Fields::number)?,
        taint: from.name(",\"taint\":\"")?,
        texts: from
            .perhaps(",\"texts\":", |from| from.rare().filter(|it: &Vec<_>| !it.is_empty()))?
            .unwrap_or_default(),
        time: from.after(",\"time\":\"", |from| Time::parse(from.rest_of_name()?))?,
        under: from.perhaps(",\"under\":", Fields::rare)?,
        v: from.after(",\"v\":", |from| from.number()?.try_into().ok())?,
        parsed: OnceLock::new(),
    };
    from.0.word("}")?;
    from.0.is_at_end().then_some(event)
}

struct Fields<'a>(Reader<'a>);

impl<'a> Fields<'a> {
    #[inline]
    fn after<T>(&mut self, label: &str, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.0.word(label)?;
        read(self)
    }

    /// A field that may be missing.
    #[inline]
    fn perhaps<T>(&mut self, label: &str, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.0.word(label) {
            Some(()) => read(self).map(Some),
            None => Some(None),
        }
    }

    #[inline]
    fn name(&mut self, label: &str) -> Option<&'a str> {
        self.after(label, Self::rest_of_name)
    }

    /// A text without escapes, after its first quote.
    fn rest_of_name(&mut self) -> Option<&'a str> {
        self.0.rest_of_plain_string()
    }

    fn rest_of_hash(&mut self) -> Option<Hash> {
        Hash::from_hex(self.0.rest_of_plain_string()?)
    }

    /// The text of some value.
    fn value(&mut self) -> Option<&'a str> {
        let start = self.0.at();
        self.0.value(1)?;
        Some(self.0.since(start))
    }

    fn number(&mut self) -> Option<u64> {
        self.value()?.parse().ok()
    }

    fn binding(&mut self) -> Option<Binding<'a>> {
        let binding = Binding {
            code: self.name("{\"code\":\"")?,
            events: self.after(",\"events\":", Self::number)?,
            key: self.name(",\"key\":\"")?,
            request: self.after(",\"request\":\"", Self::rest_of_hash)?,
        };
        self.0.word("}")?;
        Some(binding)
    }

    /// What few events have: read, written again and compared.
    fn rare<T: DeserializeOwned + Serialize>(&mut self) -> Option<T> {
        let text = self.value()?;
        let read: T = serde_json::from_str(text).ok()?;
        (serde_json::to_string(&read).ok()? == text).then_some(read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::canonical;
    use crate::event::{Held, LeaseChange};
    use proptest::prelude::*;

    /// What three passes say.
    fn slowly(body: &str) -> Option<String> {
        let event = Event::read(body).ok()?;
        (event.is_written(body) && canonical::fault(body).is_none()).then(|| format!("{event:?}"))
    }

    fn quickly(body: &str) -> Option<String> {
        event(body).map(|event| format!("{event:?}"))
    }

    fn a_name() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z0-9.:-]{1,40}", "[^\\p{C}\"\\\\]{1,9}"]
    }

    fn an_event() -> impl Strategy<Value = String> {
        let names = prop::collection::vec(a_name(), 12);
        let facts = prop::sample::select(vec!["{}", r#"{"a":[1,{"b":null}],"c":"é\n"}"#, r#"{"a":0.5,"note":"xxxx"}"#]);
        let numbers = (0..1u64 << 53, any::<u32>(), -62_000_000_000_000..253_000_000_000_000i64);
        (names, facts, numbers, prop::collection::vec(any::<bool>(), 8)).prop_map(|(names, facts, numbers, has)| {
            let name = |at: usize| names[at].as_str();
            let held = || Held { name: name(9).to_owned(), number: 7 };
            let (seq, v, time) = numbers;
            let hash = Hash::of(name(0).as_bytes());
            let granted = LeaseChange::Grant { holder: name(10).to_owned(), name: name(9).to_owned(), ttl: 5 };
            let change = if has[7] { granted } else { LeaseChange::Release(held()) };
            let event = Event {
                actor: name(0),
                authn: name(1),
                cause: has[0].then(|| name(2)),
                class: name(3),
                command: name(4),
                erase: if has[1] { vec![(3, 0), (seq, 1)] } else { Vec::new() },
                facts: Facts::of_value(facts),
                id: name(5),
                kind: name(6),
                lease: has[2].then_some(change),
                matter: name(7),
                once: has[3].then(|| Binding { code: name(8), events: 2, key: name(9), request: hash }),
                prev: hash,
                project: name(10),
                run: has[4].then(|| name(11)),
                seq,
                taint: name(1),
                texts: if has[5] { vec![hash, Hash::NONE] } else { Vec::new() },
                time: Time(time),
                under: has[6].then(held),
                v,
                parsed: OnceLock::new(),
            };
            event.write()
        })
    }

    proptest! {
        #[test]
        fn an_event_that_was_written_is_read_in_one_pass(body in an_event()) {
            prop_assert!(slowly(&body).is_some());
            prop_assert_eq!(quickly(&body), slowly(&body));
        }

        /// Whatever one pass takes for an event, three passes do too, and for the same one.
        #[test]
        fn nothing_else_is(body in an_event(), at in any::<prop::sample::Index>(), to in "[ 0\"\\\\,{}a\\[\\]e.-]{0,2}", takes in 0usize..3) {
            let letters: Vec<char> = body.chars().collect();
            let at = at.index(letters.len());
            let changed: String = letters[..at].iter().collect::<String>() + &to + &letters[(at + takes).min(letters.len())..].iter().collect::<String>();
            prop_assert_eq!(quickly(&changed), slowly(&changed));
        }
    }

    #[test]
    fn fields_that_are_there_and_empty_are_not_in_the_one_form() {
        let hash = Hash::NONE;
        let body = |extra: &str, texts: &str| {
            format!(
                r#"{{"actor":"a","authn":"d"{extra},"class":"c","command":"n","facts":{{}},"id":"i","kind":"k","matter":"m","prev":"{hash}","project":"p","seq":1,"taint":"t"{texts},"time":"2026-01-31T08:00:00.000Z","v":1}}"#
            )
        };
        assert!(quickly(&body("", "")).is_some());
        for (extra, texts) in
            [(r#","cause":null"#, ""), ("", r#","texts":[]"#), (r#","actor":"b""#, ""), ("", r#","seq":1"#)]
        {
            let body = body(extra, texts);
            assert_eq!((quickly(&body), slowly(&body)), (None, None), "{body}");
        }
    }
}
