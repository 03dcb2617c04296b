//! The minimum pace of a server. A timeout for each read does not end an answer that drips, and some of its bytes, such as
//! headers and the lengths of chunks, never reach the reader of a body. So the connection itself counts.

use std::time::{Duration, Instant};

use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};
use ureq::{Error, Timeout};

/// Bytes in a second that an answer must have on average, after the time that it may be idle.
const PACE: f64 = 1024.0;

/// Makes connections that end when the server is too slow.
#[derive(Debug)]
pub(super) struct Paced {
    /// The time that an answer may be idle in all.
    pub(super) idle: Duration,
}

impl<In: Transport> Connector<In> for Paced {
    type Out = PacedTransport<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(|inner| PacedTransport { inner, idle: self.idle, waited: Duration::ZERO, received: 0 }))
    }
}

/// A connection that counts the bytes of an answer, and the time that was spent waiting for them.
#[derive(Debug)]
pub(super) struct PacedTransport<T> {
    inner: T,
    idle: Duration,
    waited: Duration,
    received: usize,
}

impl<T: Transport> Transport for PacedTransport<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        // The next answer begins.
        (self.waited, self.received) = (Duration::ZERO, 0);
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let (began, before) = (Instant::now(), self.inner.buffers().input().len());
        let result = self.inner.await_input(timeout)?;
        self.waited += began.elapsed();
        self.received += self.inner.buffers().input().len().saturating_sub(before);
        if is_too_slow(self.waited, self.received, self.idle) {
            Err(Error::Timeout(Timeout::RecvBody))
        } else {
            Ok(result)
        }
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}

fn is_too_slow(waited: Duration, received: usize, idle: Duration) -> bool {
    waited.as_secs_f64() > idle.as_secs_f64() + received as f64 / PACE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_answer_has_time_for_its_bytes() {
        let (idle, seconds) = (Duration::from_secs(30), Duration::from_secs);
        for (waited, received, is) in
            [(29, 0, false), (31, 0, true), (31, 2 << 10, false), (3_600, 4 << 20, false), (3_600, 1 << 20, true)]
        {
            assert_eq!(is_too_slow(seconds(waited), received, idle), is, "{waited} {received}");
        }
    }
}
