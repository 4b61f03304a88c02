//! Texts of a fixed form that requests, responses and promises speak in.

use crate::ids::TaskId;
use countersign_contract::pattern;

pattern! {
    /// The task whose work is validated: lower-case letters, digits and hyphens, or a task id of a run.
    pub struct ValidationTaskId {
        pattern: r"^([a-z0-9-]+|T-[0-9]+|[0-9a-fA-F-]{36})$",
        example: "checkout-api-5j8t",
        says: "a task id: lower-case letters, digits and hyphens, or `T-` and a number, or a UUID",
        test: |text| is_slug(text) || TaskId::parse(text).is_some(),
    }
}

pattern! {
    /// A product requirements document.
    pub struct PrdId {
        pattern: r"^PRD-[A-Z0-9-]+$",
        example: "PRD-CHECKOUT-001",
        says: "a document id such as PRD-CHECKOUT-001",
        test: |text| {
            let rest = text.strip_prefix("PRD-").unwrap_or_default().as_bytes();
            !rest.is_empty() && rest.iter().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'-')
        },
    }
}

pattern! {
    /// A criterion of a request, as its response names it.
    pub struct CriterionId {
        pattern: r"^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,99}$",
        example: "AC-1",
        says: "a criterion id such as AC-1 or F4.1-2",
        test: is_criterion_id,
    }
}

pattern! {
    /// A commit, in full or shortened to at least seven digits.
    pub struct CommitHash {
        pattern: r"^[0-9a-fA-F]{7,64}$",
        example: "9fceb02d0ae598e95dc970b74767f19372d61af8",
        says: "a commit hash: 7 to 64 hexadecimal digits",
        test: |text| (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
    }
}

pattern! {
    /// The address of a service: http or https, without user or password.
    pub struct WebAddress {
        pattern: r"^https?://([A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?([/?#][!-~]*)?$",
        example: "http://localhost:3000",
        says: "an http or https address such as http://localhost:3000, without user or password",
        test: is_web_address,
    }
}

pattern! {
    /// A promise.
    pub struct PromiseId {
        pattern: r"^promise-[0-9a-f]{8}$",
        example: "promise-1a2b3c4d",
        says: "a promise id: `promise-` and eight lower-case hexadecimal digits",
        test: |text| {
            let rest = text.strip_prefix("promise-").unwrap_or_default().as_bytes();
            rest.len() == 8 && rest.iter().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        },
    }
}

pattern! {
    /// A criterion of a promise: the n-th is `AC-n`.
    pub struct PromiseCriterionId {
        pattern: r"^AC-[1-9][0-9]{0,5}$",
        example: "AC-1",
        says: "a criterion id: `AC-` and its number",
        test: |text| {
            let rest = text.strip_prefix("AC-").unwrap_or_default().as_bytes();
            (1..=6).contains(&rest.len()) && rest.iter().all(u8::is_ascii_digit) && !rest.starts_with(b"0")
        },
    }
}

fn is_slug(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

fn is_criterion_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:/#-".contains(byte);
    bytes.len() <= 100 && bytes.first().is_some_and(u8::is_ascii_alphanumeric) && bytes.iter().all(inner)
}

fn is_web_address(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else { return false };
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    is_authority(authority) && tail.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let Some((inner, port)) = rest.split_once(']') else { return false };
            let sound = inner.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.');
            (!inner.is_empty() && sound, port)
        }
        None => {
            let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
            let bytes = host.as_bytes();
            let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
            (bytes.first().is_some_and(u8::is_ascii_alphanumeric) && bytes.iter().all(inner), port)
        }
    };
    let digits = port.strip_prefix(':');
    let numbered = |it: &str| (1..=5).contains(&it.len()) && it.bytes().all(|byte| byte.is_ascii_digit());
    host && (port.is_empty() || digits.is_some_and(numbered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_addresses_are_told_from_what_looks_like_them() {
        for (text, expected) in [
            ("checkout-api-5j8t", true),
            ("T-12", true),
            ("3F56DC4D-35CF-4F97-925C-0B04A6FE8BF4", true),
            ("", false),
            ("Checkout", false),
            ("a_b", false),
            ("t 1", false),
        ] {
            assert_eq!(ValidationTaskId::parse(text).is_some(), expected, "{text}");
        }
        for (text, expected) in [
            ("http://localhost:3000", true),
            ("https://shop.example/a?b#c", true),
            ("http://[::1]:8080/", true),
            ("http://user:pass@shop.example", false),
            ("http://", false),
            ("http://:80", false),
            ("http://a:123456", false),
            ("http://a b", false),
            ("http://a/\u{202e}", false),
            ("ftp://a", false),
            ("javascript:alert(1)", false),
        ] {
            assert_eq!(WebAddress::parse(text).is_some(), expected, "{text}");
        }
        for (text, expected) in [("AC-1", true), ("AC-0", false), ("AC-01", false), ("AC-", false), ("ac-1", false)] {
            assert_eq!(PromiseCriterionId::parse(text).is_some(), expected, "{text}");
        }
    }
}
