//! Where a repository is, by the address that git has for it.

use crate::worktree::call::{Fault, Git};
use std::path::Path;

/// Host of a repository, and its owner and name, if its address tells them.
pub(super) type Address = Option<(String, String)>;

/// Asked of the repository's own settings, git says whether there is one.
pub(super) const QUESTION: &[&str] = &["config", "--local", "--includes", "--get", "remote.origin.url"];

/// Host of the repository, and its owner and name, by its address; nothing, if it has none that tells them.
pub(super) fn address_of(folder: &Path) -> Result<Address, Fault> {
    read(Git::at(folder).run(QUESTION, b""))
}

/// The same, from what git says.
pub(super) fn read(answer: Result<Vec<u8>, Fault>) -> Result<Address, Fault> {
    match answer {
        Ok(out) => Ok(parse_address(String::from_utf8_lossy(&out).trim())),
        Err(Fault { code: Some(1), .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// A name as a part of an address.
pub(super) fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Host and path of a repository's address. None, if it is a folder or cannot be told.
fn parse_address(url: &str) -> Option<(String, String)> {
    let (authority, path) = match url.split_once("://") {
        Some(("http" | "https" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        // As scp writes it; a colon after a slash is part of a folder's name.
        None => url.split_once(':').filter(|(host, path)| !host.contains('/') && !path.starts_with('\\'))?,
    };
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let path = path.trim_matches('/').trim_end_matches(".git");
    let fits = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    let fits = fits && host.len() > 1 && host.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    (fits && path.split('/').count() == 2).then(|| (host.to_owned(), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_told_by_its_address() {
        let cases = [
            ("https://github.com/acme/shop.git", Some(("github.com", "acme/shop"))),
            ("https://user:word@git.acme.example:8443/acme/shop", Some(("git.acme.example", "acme/shop"))),
            ("ssh://git@github.com/acme/shop.git", Some(("github.com", "acme/shop"))),
            ("git@github.com:acme/shop.git", Some(("github.com", "acme/shop"))),
            ("/srv/git/shop.git", None),
            ("../shop", None),
            ("C:\\shop", None),
            ("file:///srv/git/shop", None),
            ("https://github.com/group/sub/shop", None),
            ("", None),
        ];
        for (url, wanted) in cases {
            let wanted = wanted.map(|(host, path)| (host.to_owned(), path.to_owned()));
            assert_eq!(parse_address(url), wanted, "{url}");
        }
    }

    #[test]
    fn a_name_becomes_part_of_an_address() {
        assert_eq!(escaped("fix/größe"), "fix/gr%C3%B6%C3%9Fe");
        assert_eq!(escaped("a#b%"), "a%23b%25");
    }
}
