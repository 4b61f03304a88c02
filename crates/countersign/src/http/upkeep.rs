//! What goes on while the server is there: following the log, and acting on deadlines when they are due.

use super::Server;
use countersign_engine::Engine;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How many lapsed leases are dealt with in one transaction.
const AT_ONCE: usize = 64;
/// How long after a look nothing new can be due: no lease is shorter than thirty times this.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a clock that was set, or a machine that slept, goes unnoticed.
const LONGEST: Duration = Duration::from_secs(60);
const WAIT: Duration = Duration::from_secs(60);

/// Follows the end of the log, also where other processes write it. One thread waits for all who listen.
pub fn follow(engine: &Arc<Engine>) -> anyhow::Result<watch::Receiver<u64>> {
    let mut seq = engine.ledger().head()?.seq;
    let (told, head) = watch::channel(seq);
    let engine = Arc::clone(engine);
    let follow = move || {
        while !told.is_closed() {
            match engine.ledger().wait(seq, WAIT) {
                Ok(head) if head.seq > seq => {
                    seq = head.seq;
                    told.send_replace(seq);
                }
                Ok(_) => {}
                // A ledger that is away comes back, or whoever asks for something is told that it does not.
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    };
    std::thread::Builder::new().name("follow".to_owned()).spawn(follow)?;
    Ok(head)
}

/// Sleeps until something is due, acts on it, and looks again whenever something was recorded.
pub async fn keep_time(server: &Server) {
    let (mut head, mut ending) = (server.head.clone(), server.ending.clone());
    loop {
        head.borrow_and_update();
        let engine = Arc::clone(&server.engine);
        let due = tokio::task::spawn_blocking(move || act(&engine)).await.ok().flatten();
        let left = due.map_or(LONGEST, |due| millis(due.saturating_sub(Timestamp::now().as_millisecond())));
        let pause = tokio::time::sleep(PAUSE);
        let sleep = tokio::time::sleep(left.clamp(PAUSE, LONGEST));
        tokio::select! {
            () = sleep => {}
            changed = async { pause.await; head.changed().await } => if changed.is_err() { return },
            _ = ending.wait_for(|ending| *ending) => return,
        }
    }
}

fn millis(left: i64) -> Duration {
    Duration::from_millis(u64::try_from(left).unwrap_or(0))
}

/// Acts on all that is due, and says when the next thing will be.
fn act(engine: &Engine) -> Option<i64> {
    loop {
        let due = match engine.next_due() {
            Ok(due) => due?,
            Err(error) => return said(&error),
        };
        if due > Timestamp::now().as_millisecond() {
            return Some(due);
        }
        match engine.settle(AT_ONCE) {
            // By the ledger's own clock it is not due yet.
            Ok(0) => return Some(due),
            Ok(_) => {}
            Err(error) => return said(&error),
        }
    }
}

fn said(error: &countersign_ledger::Error) -> Option<i64> {
    crate::cli::say(&format!("warning: deadlines cannot be acted on at present: {error}"));
    Some(Timestamp::now().as_millisecond().saturating_add(5_000))
}
