//! What a signal means while agents work: the first asks everything to stop, the second ends it at once.

use countersign_runner::agent::Stop;

/// Ends the watching when it is dropped.
pub struct Signals(Option<tokio::sync::oneshot::Sender<()>>);

impl Drop for Signals {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            let _ = end.send(());
        }
    }
}

/// What is said at the first signal.
pub const STOPPING: &str = "stopping: agents are asked to end; once more ends it at once";

/// Has an interrupt ask for a stop. A run that is ended at once goes on with `--resume`, like one that was killed. It is said
/// here, unless somebody else shows it who draws on the same terminal.
pub fn stops(stop: &Stop, is_said: bool) -> anyhow::Result<Signals> {
    let (send, receive) = tokio::sync::oneshot::channel();
    let stop = stop.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let mut receive = receive;
            let Ok(mut signals) = super::serve::Signals::new() else { return };
            tokio::select! {
                () = signals.next() => {
                    if is_said {
                        super::output::say(STOPPING);
                    }
                    stop.stop();
                }
                _ = &mut receive => return,
            }
            tokio::select! {
                () = signals.next() => {
                    // Who did not heed the first one would work on, and nobody would be there to see it.
                    countersign_runner::groups::kill_all();
                    std::process::exit(130)
                }
                _ = &mut receive => {}
            }
        });
    });
    Ok(Signals(Some(send)))
}
