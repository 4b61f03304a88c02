//! Something must listen on a port of this machine.

use super::{Evidence, Status};
use countersign_domain::plan::evidence::EvidenceKind;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long one try may take. On this machine it is answered at once, or somebody drops what comes.
const TRY: Duration = Duration::from_secs(5);
/// How long it is waited between tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Connects to a port. With a patience, what is still starting is waited for; without, there is one try.
pub(super) fn collect(port: i64, patience: Option<Duration>) -> Evidence {
    let kind = EvidenceKind::Port;
    let Ok(port) = u16::try_from(port) else {
        return Evidence::new(kind, Status::Blocked, format!("{port} is no port"));
    };
    let start = Instant::now();
    loop {
        let left = patience.map(|patience| patience.saturating_sub(start.elapsed()));
        let refused = match connect(port, left.map_or(TRY, |left| left.clamp(PAUSE, TRY))) {
            Ok(address) => return Evidence::new(kind, Status::Pass, format!("something listens on {address}")),
            Err(error) => error,
        };
        if left.is_none_or(|left| left <= PAUSE) {
            let timed_out = refused.kind() == io::ErrorKind::TimedOut;
            let says = format!("nothing listens on port {port} of this machine: {refused}");
            return Evidence { timed_out, ..Evidence::new(kind, Status::Fail, says) };
        }
        std::thread::sleep(PAUSE);
    }
}

fn connect(port: u16, patience: Duration) -> io::Result<SocketAddr> {
    let address = |host: IpAddr| SocketAddr::new(host, port);
    let (four, six) = (address(Ipv4Addr::LOCALHOST.into()), address(Ipv6Addr::LOCALHOST.into()));
    match TcpStream::connect_timeout(&four, patience) {
        Ok(_) => Ok(four),
        Err(error) => TcpStream::connect_timeout(&six, patience).map(|_| six).map_err(|_| error),
    }
}
