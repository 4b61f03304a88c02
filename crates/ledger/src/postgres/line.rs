//! A connection that is made when it is needed, and made again when it was lost.

use super::address::Address;
use super::fault::Fault;
use super::link::{Link, Session};
use super::{open, turn};
use crate::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// Setting a session up is a few short questions.
const SETTLE: Duration = Duration::from_secs(10);

pub(super) struct Line {
    pub(super) address: Arc<Address>,
    pub(super) project: Arc<str>,
    link: Option<Link>,
    /// Whether it listens for notifications.
    listens: bool,
}

impl Line {
    pub(super) fn new(address: &Arc<Address>, project: &Arc<str>, listens: bool) -> Self {
        Self { address: Arc::clone(address), project: Arc::clone(project), link: None, listens }
    }

    /// Takes a link that was set up already.
    pub(super) fn with(mut self, link: Link) -> Self {
        self.link = Some(link);
        self
    }

    /// Whether there is a connection.
    pub(super) fn is_up(&self) -> bool {
        self.link.is_some()
    }

    /// Gives the connection up. The server rolls back what was under way.
    pub(super) fn hang_up(&mut self) {
        self.link = None;
    }

    fn link(&mut self) -> Result<&Link, Fault> {
        let link = match self.link.take() {
            Some(link) => link,
            None => self.dial()?,
        };
        Ok(self.link.insert(link))
    }

    fn dial(&self) -> Result<Link, Fault> {
        let link = Link::make(&self.address)?;
        link.run(Some(SETTLE), async |session| {
            open::fits(open::settle(session).await?.format).map_err(Fault::Said)?;
            if !open::find_project(session, &self.project).await? {
                return Err(Fault::Said(missing(&self.project)));
            }
            if self.listens { turn::listen(session, &self.project).await } else { Ok(()) }
        })?;
        Ok(link)
    }

    /// Does something that can be done again from its start. A connection that was fine the last time may have ended since,
    /// which shows only now: then it is done once more, with a new one.
    pub(super) fn ask<T>(
        &mut self,
        at_most: Option<Duration>,
        work: impl AsyncFn(&Session) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let kept = self.is_up();
        match self.ask_once(at_most, &work) {
            Err(Fault::Lost(_)) if kept => self.ask_once(at_most, &work),
            other => other,
        }
    }

    /// Does something. After any fault but a refusal the connection is not used again.
    pub(super) fn ask_once<T>(
        &mut self,
        at_most: Option<Duration>,
        work: impl AsyncFn(&Session) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let done = self.link()?.run(at_most, async |session| work(session).await);
        if matches!(done, Err(ref fault) if !matches!(fault, Fault::Refused(..))) {
            self.hang_up();
        }
        done
    }
}

pub(super) fn missing(project: &str) -> Error {
    Error::Unreadable(format!("there is no project {project} in this database; run `countersign init`"))
}
