//! The executor's own token, kept out of everything that the platform says.
//!
//! What is said is looked at for secrets later too, but only for those whose shape is known. A token of another shape is known
//! here alone.

use super::table::escaped;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

/// What stands where the token stood.
const HIDDEN: &str = "[REDACTED:token]";
/// How long a token must be for parts of its encoded forms to tell of nothing else.
const ENCODED_MIN: usize = 8;

/// The forms that a token can come back in, the longest first.
pub(super) struct Mask {
    forms: Vec<String>,
}

impl Mask {
    pub(super) fn of(token: &str) -> Self {
        let percent = escaped(token, false);
        let mut forms = vec![token.to_owned(), percent.clone(), lowered(&percent)];
        if token.len() >= ENCODED_MIN {
            for before in 0..3 {
                forms.push(encoded(&STANDARD_NO_PAD, token, before));
                forms.push(encoded(&URL_SAFE_NO_PAD, token, before));
            }
        }
        forms.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        Self { forms }
    }

    /// A text without the token.
    pub(super) fn hidden(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for form in self.forms.iter().filter(|form| text.contains(form.as_str())) {
            clean = clean.replace(form, HIDDEN);
        }
        clean
    }

    /// Takes the token out of every text of a value, and out of its names.
    pub(super) fn hide(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hidden(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(item)),
            Value::Object(members) => {
                for (name, mut member) in std::mem::take(members) {
                    self.hide(&mut member);
                    members.insert(self.hidden(&name), member);
                }
            }
            _ => {}
        }
    }
}

/// The letters of a token in base64 that depend on nothing but the token, when so many bytes stand before it.
fn encoded(engine: &impl Engine, token: &str, before: usize) -> String {
    let bytes = [&[0; 3][..before], token.as_bytes()].concat();
    let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    engine.encode(&bytes).chars().take(end).skip(start).collect()
}

/// Percent signs with small letters.
fn lowered(percent: &str) -> String {
    let mut parts = percent.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        out.push_str(&format!("%{}{rest}", code.to_ascii_lowercase()));
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    const TOKEN: &str = "0a1b2c3d4e5f/60718293+a4b5c6d7";

    #[test]
    fn a_token_is_hidden_in_each_of_its_forms() {
        let mask = Mask::of(TOKEN);
        let mut said = vec![TOKEN.to_owned(), escaped(TOKEN, false), lowered(&escaped(TOKEN, false))];
        for before in ["", "x", "xy", "x-access-token:"] {
            said.push(STANDARD.encode(format!("{before}{TOKEN}:after")));
            said.push(URL_SAFE_NO_PAD.encode(format!("{before}{TOKEN}")));
        }
        for form in said {
            let mut value =
                json!({ "message": format!("bad {form}, and {form}"), form.as_str(): [{ "x": form }], "n": 1 });
            mask.hide(&mut value);
            let text = value.to_string();
            let core: String = form.chars().skip(form.len() / 3).take(12).collect();
            assert!(!text.contains(&core) && text.matches(HIDDEN).count() == 4, "{form}: {text}");
        }
        let mut other = json!({ "sha": "1f0c3a5b7d9e2f4a6b8c0d1e3f5a7b9c2d4e6f80", "b": [true, null, 2] });
        let before = other.clone();
        mask.hide(&mut other);
        assert_eq!(other, before);
    }
}
