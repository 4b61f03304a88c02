//! Which hosts checks may ask, as far as names tell.
//!
//! **Absent on purpose:** asking anybody. To which address a name leads is found out where it is asked.

use super::payload::{Plan, Url};
// Addresses alone: nothing here opens a socket.
use core::net::IpAddr;

impl Url {
    /// The host, as it is written: without user and port, an address of version 6 with its brackets.
    pub fn host(&self) -> &str {
        let rest = self.as_str().split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
        let end = match server.find(']') {
            Some(bracket) => bracket + 1,
            None => server.find(':').unwrap_or(server.len()),
        };
        server.get(..end).unwrap_or_default()
    }
}

/// A host in small letters, without the brackets of an address and the dot at the end of a name.
pub fn bare(host: &str) -> String {
    host.trim().trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

/// Whether a bare host is this machine, which may always be asked.
pub fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Whether a plan lets a host be asked.
pub fn allows(plan: &Plan, host: &str) -> bool {
    let host = bare(host);
    is_here(&host) || plan.allow_hosts.iter().flat_map(|hosts| hosts.iter()).any(|it| bare(it.as_str()) == host)
}

#[cfg(test)]
mod tests {
    use super::super::parts;
    use super::*;

    #[test]
    fn the_host_of_an_address_is_found() {
        let cases = [
            ("http://localhost", "localhost"),
            ("http://127.0.0.1:8000/health", "127.0.0.1"),
            ("https://Docs.Example.com./a:b@c", "Docs.Example.com."),
            ("https://docs.example.com?x=1:2", "docs.example.com"),
            ("http://user@example.com:80/", "example.com"),
            ("http://localhost@evil.example/", "evil.example"),
            ("http://evil.example#@localhost/", "evil.example"),
            ("http://[::1]:80/", "[::1]"),
            ("http://[fd00::1]", "[fd00::1]"),
        ];
        for (text, host) in cases {
            let url: Url = parts::read("the address", &serde_json::json!(text).to_string()).unwrap();
            assert_eq!(url.host(), host, "{text}");
        }
    }
}
