//! Which hosts may be asked.
//!
//! This machine always may be. Another host must be allowed by name or address, and a name may not lead to an address
//! that is not public, unless that address is allowed itself: otherwise whoever answers for the name would choose which
//! machine inside is asked.

use countersign_domain::plan::hosts::{bare, is_here};
use std::net::IpAddr;

/// The hosts that may be asked beside this machine.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    allowed: Vec<String>,
}

impl Hosts {
    pub fn new(allowed: &[String]) -> Self {
        Self { allowed: allowed.iter().map(|host| bare(host)).collect() }
    }

    /// Whether a host may be asked at all.
    pub fn allow(&self, host: &str) -> bool {
        let host = bare(host);
        is_here(&host) || self.allowed.contains(&host)
    }

    /// Whether a host that may be asked may be asked at this address.
    pub fn allow_at(&self, host: &str, address: IpAddr) -> bool {
        let host = bare(host);
        let address = address.to_canonical();
        let literal = self.allowed.iter().any(|it| it.parse::<IpAddr>().is_ok_and(|it| it.to_canonical() == address));
        if is_here(&host) { address.is_loopback() } else { literal || is_public(address) }
    }
}

/// Whether an address belongs to anybody on the internet, rather than to this machine, a network inside or nobody.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            let [a, b, c, _] = it.octets();
            let shared = a == 100 && (64..128).contains(&b);
            let special = (a == 192 && b == 0 && c == 0) || (a == 198 && (b == 18 || b == 19)) || a == 0 || a >= 224;
            !(it.is_private() || it.is_loopback() || it.is_link_local() || it.is_documentation() || shared || special)
        }
        IpAddr::V6(it) => {
            let [first, second, ..] = it.segments();
            // Of the whole space this eighth is given out; parts of it carry addresses of version 4, or are for
            // examples.
            let given_out = first & 0xe000 == 0x2000;
            let carries = first == 0x2002 || (first == 0x2001 && (second < 0x0200 || second == 0x0db8));
            given_out && !carries
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_and_those_named_may_be_asked() {
        let hosts = Hosts::new(&["Example.org".to_owned(), "10.1.2.3".to_owned(), "[fd00::1]".to_owned()]);
        for host in [
            "localhost",
            "127.0.0.1",
            "127.8.8.8",
            "[::1]",
            "::1",
            "example.org",
            "EXAMPLE.org.",
            "10.1.2.3",
            "[fd00::1]",
        ] {
            assert!(hosts.allow(host), "{host}");
        }
        for host in
            ["example.com", "a.example.org", "10.1.2.4", "0.0.0.0", "2130706433", "0x7f.1", "localhost.evil.org", ""]
        {
            assert!(!hosts.allow(host), "{host}");
        }
    }

    #[test]
    fn a_name_does_not_lead_inside() {
        let hosts = Hosts::new(&["example.org".to_owned(), "10.1.2.3".to_owned()]);
        let cases = [
            ("example.org", "93.184.216.34", true),
            ("example.org", "2606:2800:220:1::1", true),
            ("example.org", "10.1.2.3", true),
            ("example.org", "10.1.2.4", false),
            ("example.org", "127.0.0.1", false),
            ("example.org", "169.254.169.254", false),
            ("example.org", "100.64.0.1", false),
            ("example.org", "0.0.0.0", false),
            ("example.org", "192.168.1.1", false),
            ("example.org", "::1", false),
            ("example.org", "::ffff:127.0.0.1", false),
            ("example.org", "fe80::1", false),
            ("example.org", "fd00::1", false),
            ("example.org", "2002:7f00:1::", false),
            ("example.org", "64:ff9b::7f00:1", false),
            ("localhost", "127.0.0.1", true),
            ("localhost", "::1", true),
            ("localhost", "93.184.216.34", false),
        ];
        for (host, address, expected) in cases {
            assert_eq!(hosts.allow_at(host, address.parse().unwrap()), expected, "{host} at {address}");
        }
    }
}
