//! Lists of a platform, page by page.
//!
//! The platform names the next page in its `Link` header. One that names none has no more, or does not speak so; then a full page
//! is taken to have another one behind it.

use super::step::{Blind, Reading};
use serde_json::Value;

/// How many are on a page of a list.
pub(super) const PAGE: usize = 100;
/// How many pages are looked at.
const PAGES_MAX: usize = 100;

/// What was read at a path.
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) body: Value,
    /// The path of the page behind it, where the platform names one; nothing, if it has no more; none, if it says nothing of pages.
    pub(super) next: Option<Option<String>>,
}

/// What is on the pages of a list.
pub(super) enum Listed<T> {
    /// What was looked for.
    Found(T),
    /// There is nothing like it.
    Nothing,
    /// There is no such list, or it may not be seen.
    Refused,
}

/// Shows the items of a list to `look`, page by page, until it says what came of it. The items are the body of a page, or a
/// `member` of it; with them goes the whole body.
pub(super) fn through<T>(
    read: &Reading<'_>,
    path: &str,
    member: Option<&str>,
    mut look: impl FnMut(&[Value], &Value) -> Option<Listed<T>>,
) -> Result<Listed<T>, Blind> {
    let and = if path.contains('?') { '&' } else { '?' };
    let first = format!("{path}{and}per_page={PAGE}");
    let mut at = first.clone();
    for number in 1..=PAGES_MAX {
        let page = read(&at)?;
        let items = member.map_or(&page.body, |member| &page.body[member]).as_array();
        let Some(items) = items.filter(|_| page.status < 300) else {
            let why = format!("the platform answered {} when it was asked for page {number} of {path}", page.status);
            return if number == 1 { Ok(Listed::Refused) } else { Err(Blind::Unread(why)) };
        };
        if let Some(came_of_it) = look(items, &page.body) {
            return Ok(came_of_it);
        }
        at = match page.next {
            Some(Some(next)) => next,
            None if items.len() >= PAGE => format!("{first}&page={}", number + 1),
            Some(None) | None => return Ok(Listed::Nothing),
        };
    }
    Err(Blind::Unclear(format!("it is not among the first {} of {path}", PAGE * PAGES_MAX)))
}

/// The address of the next page in a `Link` header.
pub(super) fn next_in(header: &str) -> Option<&str> {
    header.split(',').find_map(|link| {
        let (address, about) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = |it: &str| matches!(it.trim(), "rel=\"next\"" | "rel=next");
        about.split(';').any(is_next).then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::next_in;

    #[test]
    fn the_next_page_is_told_from_the_others() {
        let table = [
            ("<https://x/a?page=2>; rel=\"next\", <https://x/a?page=9>; rel=\"last\"", Some("https://x/a?page=2")),
            ("<https://x/a?page=1>; rel=\"prev\",<https://x/a?page=3>;rel=next", Some("https://x/a?page=3")),
            ("<https://x/a?page=8>; rel=\"prev\", <https://x/a?page=1>; rel=\"first\"", None),
            ("", None),
            ("nonsense", None),
        ];
        for (header, next) in table {
            assert_eq!(next_in(header), next, "{header}");
        }
    }
}
