//! The stream of a connection, which records its progress. A client that stops reading loses its connection, which frees
//! its buffers.

use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::time::{Instant, Sleep, sleep};

use super::progress::Progress;

/// A stream that records when bytes arrive and when all are sent, with a write timeout.
pub(super) struct Watched<S> {
    stream: S,
    progress: Arc<Progress>,
    timeout: Duration,
    pending: bool,
    end: Pin<Box<Sleep>>,
}

impl<S> Watched<S> {
    /// Wraps a stream. A write fails if the client accepts nothing for `timeout`.
    pub(super) fn new(stream: S, progress: Arc<Progress>, timeout: Duration) -> Self {
        Self { stream, progress, timeout, pending: false, end: Box::pin(sleep(timeout)) }
    }

    /// Passes a write result on, or fails if the write has been pending for too long.
    fn check<T>(&mut self, cx: &mut Context<'_>, result: Poll<Result<T>>) -> Poll<Result<T>> {
        if result.is_ready() {
            self.pending = false;
            return result;
        }
        if !self.pending {
            self.pending = true;
            self.end.as_mut().reset(Instant::now() + self.timeout);
        }
        match self.end.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client stopped reading"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: Read + Unpin> Read for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        if result.is_ready() {
            self.progress.bytes_arrived();
        }
        result
    }
}

impl<S: Write + Unpin> Write for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.check(cx, result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(cx);
        if result.is_ready() {
            self.progress.flushed();
        }
        self.check(cx, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.check(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.check(cx, result)
    }
}
