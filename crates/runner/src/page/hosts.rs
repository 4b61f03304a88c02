//! Which hosts may be asked.

/// Names of this machine, which may always be asked.
const THIS_MACHINE: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// The hosts that may be asked: this machine, and those that were named.
#[derive(Debug, Clone)]
pub(super) struct Hosts(Vec<String>);

impl Hosts {
    /// Hosts by name or address, without a port. What is no name is refused, because it would go into the browser's rules.
    pub(super) fn new(named: &[String]) -> Result<Self, String> {
        let mut all: Vec<String> = THIS_MACHINE.iter().map(|host| (*host).to_owned()).collect();
        for host in named {
            let plain = host.trim_end_matches('.').to_ascii_lowercase();
            if !is_host(&plain) {
                let shown = countersign_contract::show(host);
                return Err(format!(
                    "`{shown}` is no name of a host; write one such as docs.example.com, without a port"
                ));
            }
            all.push(plain);
        }
        Ok(Self(all))
    }

    /// Whether an address may be looked at: HTTP, of an allowed host, and without a name and password in it.
    pub(super) fn check(&self, url: &str) -> Result<(), String> {
        let shown = countersign_contract::show(url);
        // A browser reads more into an address than stands there: it drops line breaks and turns backslashes round.
        let plain = url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let lower = url.to_ascii_lowercase();
        let host = ["http://", "https://"].iter().find_map(|scheme| host(lower.strip_prefix(scheme)?));
        let Some(host) = host.filter(|host| plain && is_host(host)) else {
            return Err(format!("`{shown}` is no address of a page; it begins with http:// or https:// and a host"));
        };
        if self.0.contains(&host) {
            Ok(())
        } else {
            Err(format!("the host `{host}` is not allowed; add it to the plan's allow_hosts if it may be asked"))
        }
    }

    /// Whether a request that a page makes may go out; if not, the host it was for. Addresses come as the browser writes
    /// them.
    pub(super) fn passes(&self, url: &str) -> Result<(), String> {
        let (scheme, rest) = url.split_once(':').unwrap_or_default();
        match scheme {
            // These carry their content with them, or are nothing.
            "data" | "blob" | "about" => Ok(()),
            "http" | "https" => {
                let host = rest.strip_prefix("//").and_then(host).unwrap_or_default();
                if self.0.contains(&host) { Ok(()) } else { Err(host) }
            }
            _ => Err(format!("{scheme}:")),
        }
    }

    /// The rules by which the browser's resolver knows these hosts and no others.
    pub(super) fn resolver_rules(&self) -> String {
        let mut rules = "MAP * ~NOTFOUND".to_owned();
        for host in &self.0 {
            rules.push_str(", EXCLUDE ");
            rules.push_str(host.trim_matches(['[', ']']));
        }
        rules
    }
}

/// The host in what follows `//` in an address: without user, port and a final dot, in small letters.
fn host(rest: &str) -> Option<String> {
    let authority = rest.split(['/', '?', '#']).next()?;
    if authority.contains('@') {
        return None;
    }
    let end = match authority.strip_prefix('[') {
        Some(inside) => inside.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let is_port = port.strip_prefix(':').unwrap_or(port).bytes().all(|byte| byte.is_ascii_digit());
    is_port.then(|| host.trim_end_matches('.').to_ascii_lowercase()).filter(|host| !host.is_empty())
}

fn is_host(host: &str) -> bool {
    let is_address = |inside: &str| inside.parse::<std::net::Ipv6Addr>().is_ok();
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inside) => is_address(inside),
        None => {
            let label = |label: &str| {
                let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
                !label.is_empty() && label.len() <= 63 && plain && !label.starts_with('-') && !label.ends_with('-')
            };
            host.len() <= 253 && host.split('.').all(label)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Hosts {
        Hosts::new(&["Docs.Example.com".to_owned(), "10.0.0.7".to_owned(), "[fd00::1]".to_owned()]).unwrap()
    }

    #[test]
    fn only_pages_of_allowed_hosts_are_looked_at() {
        for url in [
            "http://localhost",
            "http://localhost:3000/a?b#c",
            "https://127.0.0.1:8443/",
            "http://[::1]:80/",
            "https://docs.example.com/x",
            "HTTPS://DOCS.EXAMPLE.COM./x",
            "http://10.0.0.7/",
            "http://[fd00::1]/",
        ] {
            assert_eq!(hosts().check(url), Ok(()), "{url}");
        }
        for url in [
            "",
            "localhost",
            "file:///etc/passwd",
            "chrome://version",
            "javascript:alert(1)",
            "data:text/html,x",
            "view-source:http://localhost/",
            "http://",
            "http:///x",
            "http://example.com/",
            "http://evil.example/localhost",
            "http://localhost.evil.example/",
            "http://localhost@evil.example/",
            "http://evil.example#@localhost/",
            "http://evil.example\\@localhost/",
            "http://localhost\\.evil.example/",
            "http://local\nhost/",
            "http://localhost:80:evil/",
            "http://127.1/",
            "http://2130706433/",
            "http://127.0.0.2/",
            "http://169.254.169.254/latest",
            "http://user:word@localhost/",
            "http://[::1/",
            "http://exa mple.com/",
            "http://%6c%6fcalhost/",
            "--headless",
        ] {
            assert!(hosts().check(url).is_err(), "{url}");
        }
    }

    #[test]
    fn only_requests_to_allowed_hosts_go_out() {
        for url in ["http://localhost:9/", "https://docs.example.com/a.css", "data:image/png;base64,x", "about:blank"] {
            assert_eq!(hosts().passes(url), Ok(()), "{url}");
        }
        for (url, host) in [
            ("https://cdn.example.com/x.js", "cdn.example.com"),
            ("http://127.0.0.2:80/", "127.0.0.2"),
            ("http://a@localhost/", ""),
            ("file:///etc/passwd", "file:"),
            ("ftp://localhost/", "ftp:"),
            ("nonsense", ":"),
        ] {
            assert_eq!(hosts().passes(url), Err(host.to_owned()), "{url}");
        }
    }

    #[test]
    fn what_is_no_host_does_not_become_a_rule() {
        for named in
            ["", "a b", "a,EXCLUDE *", "*", "*.example.com", "example.com:80", "-x", "http://a", "[::1", "a..b"]
        {
            assert!(Hosts::new(&[named.to_owned()]).is_err(), "{named}");
        }
        let rules = hosts().resolver_rules();
        assert!(
            rules.starts_with("MAP * ~NOTFOUND, EXCLUDE localhost") && rules.ends_with("EXCLUDE fd00::1"),
            "{rules}"
        );
    }
}
