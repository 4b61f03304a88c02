//! What a platform holds: kinds of resources, and where they are found.

use countersign_contract::{Int, choice, pattern};

choice! {
    /// A kind of thing that a platform action makes or changes.
    pub enum ResourceType {
        /// An issue.
        Issue = "issue",
        /// A pull request.
        PullRequest = "pull_request",
        /// A branch.
        Branch = "branch",
        /// A tag.
        Tag = "tag",
        /// A workflow, or a run of one.
        Workflow = "workflow",
        /// A comment on an issue or a pull request.
        Comment = "comment",
        /// A review of a pull request.
        Review = "review",
    }
}

impl ResourceType {
    /// Whether the platform gives things of this kind a number that people use.
    pub fn is_numbered(self) -> bool {
        matches!(self, ResourceType::Issue | ResourceType::PullRequest)
    }
}

/// The status of an HTTP answer.
pub type HttpStatus = Int<100, 599>;

/// Whether a status says that what was asked for was done.
pub fn is_success(status: HttpStatus) -> bool {
    (200..300).contains(&status.get())
}

pattern! {
    /// An address that begins with `https://` and has a host and a path. It carries no user and no password.
    pub struct HttpsUrl {
        pattern: r"^https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?/[!-~]+$",
        example: "https://github.com/acme/shop/pull/42",
        says: "an https address with host and path, such as https://github.com/acme/shop/pull/42",
        test: is_https_url,
    }
}

impl HttpsUrl {
    /// The owner and the name of the repository, where the path has the form `/owner/name/kind/…` that code platforms
    /// give to what belongs to a repository.
    pub fn repository(&self) -> Option<(&str, &str)> {
        const KINDS: &[&str] =
            &["issues", "pull", "pulls", "tree", "branches", "releases", "tags", "actions", "commit", "settings"];
        let (_, path) = self.as_str().strip_prefix("https://")?.split_once('/')?;
        let mut steps = path.split(['/', '?', '#']);
        let (owner, name, kind) = (steps.next()?, steps.next()?, steps.next()?);
        (!owner.is_empty() && !name.is_empty() && KINDS.contains(&kind)).then_some((owner, name))
    }
}

fn is_https_url(text: &str) -> bool {
    let Some((authority, path)) = text.strip_prefix("https://").and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let hosted = host.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    let ported = port.is_none_or(|port| (1..=5).contains(&port.len()) && port.bytes().all(|it| it.is_ascii_digit()));
    hosted && ported && !path.is_empty() && path.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_scheme_host_and_path() {
        let cases = [
            ("https://github.com/acme/shop/pull/42", true),
            ("https://git.acme.example:8443/x", true),
            ("http://github.com/acme/shop/pull/42", false),
            ("https://github.com", false),
            ("https://github.com/", false),
            ("https:///acme", false),
            ("https://user@github.com/acme", false),
            ("https://github.com:/acme", false),
            ("https://github.com/a b", false),
        ];
        for (text, good) in cases {
            assert_eq!(HttpsUrl::parse(text).is_some(), good, "{text}");
        }
    }

    #[test]
    fn a_repository_is_read_off_only_where_the_path_has_its_form() {
        let repository = |text| {
            HttpsUrl::parse(text).and_then(|url| url.repository().map(|(owner, name)| format!("{owner}/{name}")))
        };
        assert_eq!(repository("https://github.com/acme/shop/pull/42").as_deref(), Some("acme/shop"));
        assert_eq!(repository("https://git.example/acme/shop/issues?x=1").as_deref(), Some("acme/shop"));
        assert_eq!(repository("https://git.example/group/sub/shop/-/issues/4"), None);
        assert_eq!(repository("https://github.com/acme/shop"), None);
    }
}
