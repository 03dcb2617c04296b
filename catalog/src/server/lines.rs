//! A body that is made line by line while it is sent.

use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// What is sent: a line, or that there are no more.
enum Piece {
    Line(Bytes),
    End,
}

/// The reading end of the lines: the body of an answer. When the writing end goes away without having said that it is
/// done, the body ends in an error, so that a client does not take a half for the whole.
pub(super) struct Lines(Receiver<Piece>);

/// The writing end of the lines.
pub(super) struct Writer(Sender<Piece>);

/// The client has gone away.
pub(super) struct Gone;

/// A body and where its lines are written; a writer waits when `ahead` lines have not been sent yet.
pub(super) fn lines(ahead: usize) -> (Writer, Lines) {
    let (sender, receiver) = channel(ahead.max(1));
    (Writer(sender), Lines(receiver))
}

impl Writer {
    /// Writes a line.
    pub(super) async fn line(&self, mut line: Vec<u8>) -> Result<(), Gone> {
        line.push(b'\n');
        self.0.send(Piece::Line(line.into())).await.map_err(|_| Gone)
    }

    /// Says that there are no more lines.
    pub(super) async fn end(self) {
        // Whether anybody still listens makes no difference now.
        let _ = self.0.send(Piece::End).await;
    }

    /// Is done when the client has gone away.
    pub(super) async fn gone(&self) {
        self.0.closed().await;
    }
}

impl Body for Lines {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.0.poll_recv(cx).map(|piece| match piece {
            Some(Piece::Line(line)) => Some(Ok(Frame::data(line))),
            Some(Piece::End) => None,
            None => Some(Err(Error::new(ErrorKind::UnexpectedEof, "the lines ended early"))),
        })
    }
}
