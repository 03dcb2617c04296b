//! A response body that is written line by line.

use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// A message to the body.
enum Piece {
    Line(Bytes),
    End,
}

/// The body. If its writer is dropped before [`LineWriter::end`], the body ends in an error, so that clients notice the
/// truncation.
pub(super) struct LineBody(Receiver<Piece>);

/// The writer of the body.
pub(super) struct LineWriter(Sender<Piece>);

/// The client has disconnected.
pub(super) struct Disconnected;

/// Creates a body and its writer. The writer waits while `ahead` lines are unsent.
pub(super) fn line_body(ahead: usize) -> (LineWriter, LineBody) {
    let (sender, receiver) = channel(ahead.max(1));
    (LineWriter(sender), LineBody(receiver))
}

impl LineWriter {
    /// Writes a line.
    pub(super) async fn line(&self, mut line: Vec<u8>) -> Result<(), Disconnected> {
        line.push(b'\n');
        self.0.send(Piece::Line(line.into())).await.map_err(|_| Disconnected)
    }

    /// Ends the body.
    pub(super) async fn end(self) {
        // The client may have disconnected.
        let _ = self.0.send(Piece::End).await;
    }

    /// Completes when the client disconnects.
    pub(super) async fn disconnected(&self) {
        self.0.closed().await;
    }
}

impl Body for LineBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.0.poll_recv(cx).map(|piece| match piece {
            Some(Piece::Line(line)) => Some(Ok(Frame::data(line))),
            Some(Piece::End) => None,
            None => Some(Err(Error::new(ErrorKind::UnexpectedEof, "the response was cut off"))),
        })
    }
}
