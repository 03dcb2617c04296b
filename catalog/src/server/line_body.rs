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
    Failed(Box<str>),
}

/// The body. If its lines cannot be completed, or its writer is dropped before [`LineWriter::end`], the body ends in an
/// error, so that clients notice the truncation.
pub(super) struct LineBody(Receiver<Piece>);

/// The writer of the body.
pub(super) struct LineWriter(Sender<Piece>);

/// The reason why a body ends early.
#[derive(Debug)]
pub(super) enum CutOff {
    /// The client has disconnected.
    Disconnected,
    /// The next line could not be made, for this cause.
    Failed(Box<str>),
}

/// Creates a body and its writer. The writer waits while `ahead` lines are unsent.
pub(super) fn line_body(ahead: usize) -> (LineWriter, LineBody) {
    let (sender, receiver) = channel(ahead.max(1));
    (LineWriter(sender), LineBody(receiver))
}

impl LineWriter {
    /// Writes a line.
    pub(super) async fn line(&self, mut line: Vec<u8>) -> Result<(), CutOff> {
        line.push(b'\n');
        self.0.send(Piece::Line(line.into())).await.map_err(|_| CutOff::Disconnected)
    }

    /// Ends the body: in an error if its lines could not be completed.
    pub(super) async fn end(self, written: Result<(), CutOff>) {
        let last = match written {
            Ok(()) => Piece::End,
            Err(CutOff::Failed(cause)) => Piece::Failed(cause),
            Err(CutOff::Disconnected) => return,
        };
        // The client may have disconnected.
        let _ = self.0.send(last).await;
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
            Some(Piece::Failed(cause)) => Some(Err(Error::other(&*cause))),
            None => Some(Err(Error::new(ErrorKind::UnexpectedEof, "the response was cut off"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// The lines of a body, and its error.
    async fn read(mut body: LineBody) -> (usize, Option<String>) {
        let mut lines = 0;
        loop {
            match poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                Some(Ok(_)) => lines += 1,
                Some(Err(error)) => return (lines, Some(error.to_string())),
                None => return (lines, None),
            }
        }
    }

    #[tokio::test]
    async fn a_body_that_is_not_completed_ends_in_its_cause() {
        for (written, expected) in [
            (Ok(()), None),
            (Err(CutOff::Failed("the disk is gone".into())), Some("the disk is gone")),
            (Err(CutOff::Disconnected), Some("the response was cut off")),
        ] {
            let (writer, body) = line_body(2);
            writer.line(b"1".to_vec()).await.unwrap();
            writer.end(written).await;
            assert_eq!(read(body).await, (1, expected.map(str::to_owned)));
        }
    }
}
