//! Whether a connection was open, with its TLS: before that nothing of a request can have been sent, and after it anything may
//! have been.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use ureq::Error;
use ureq::unversioned::transport::{ConnectionDetails, Connector, Transport};

/// The last link of a chain of connectors. It changes nothing, and remembers that it was reached.
#[derive(Clone, Debug, Default)]
pub(super) struct Opened(Arc<AtomicBool>);

impl Opened {
    pub(super) fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl<In: Transport> Connector<In> for Opened {
    type Out = In;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<In>, Error> {
        self.0.store(true, Ordering::Release);
        Ok(chained)
    }
}
