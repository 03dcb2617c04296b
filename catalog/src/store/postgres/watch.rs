//! A watch on the server: a connection of its own notices when the server does not answer, for example because its host
//! is gone. Work then fails at once instead of waiting for connections that are never answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection, Error};
use tokio::sync::watch::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep, timeout};

use crate::store::{Outage, StoreError, StoreResult};

/// Maximum time of an answer. A busy server needs a while.
const ANSWER: Duration = Duration::from_secs(2);
/// Interval of questions.
const INTERVAL: Duration = Duration::from_millis(500);
/// Interval of questions while the server does not answer.
const RETRY: Duration = Duration::from_millis(250);

/// The state of the server, as last seen.
#[derive(Debug, Clone, Default)]
struct ServerState {
    /// The error if it does not answer.
    error: Option<String>,
    /// The last time when it did not answer.
    outage: Option<Instant>,
}

/// A watch on a server.
#[derive(Debug, Clone)]
pub struct Watch {
    seen: Receiver<ServerState>,
    /// The number of answers to other work. A server that gives any is there, however long this watch waits.
    answers: Arc<AtomicU64>,
}

impl Watch {
    /// Watches a server until the last clone is dropped.
    pub fn start(options: PgConnectOptions) -> Self {
        let (sender, seen) = channel(ServerState::default());
        let answers = Arc::default();
        tokio::spawn(watch(options, sender, Arc::clone(&answers)));
        Self { seen, answers }
    }

    /// Runs work, or fails when the server does not answer.
    pub async fn run<T>(&self, work: impl Future<Output = StoreResult<T>>) -> StoreResult<T> {
        let mut seen = self.seen.clone();
        let gone = async {
            match seen.wait_for(|seen| seen.error.is_some()).await.map(|seen| seen.error.clone()) {
                Ok(error) => StoreError::Unavailable(Outage::Unreachable, error.unwrap_or_default()),
                // Without a watch, work goes on.
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = work => {
                if !matches!(done, Err(StoreError::Unavailable(..))) {
                    self.answers.fetch_add(1, Ordering::Relaxed);
                }
                done
            }
            error = gone => Err(error),
        }
    }

    /// Returns `true` if the server did not answer at some time in the last `age`.
    pub fn failed_within(&self, age: Duration) -> bool {
        self.seen.borrow().outage.is_some_and(|outage| outage.elapsed() <= age)
    }
}

async fn watch(options: PgConnectOptions, sender: Sender<ServerState>, answers: Arc<AtomicU64>) {
    let mut connection = None;
    while !sender.is_closed() {
        let before = answers.load(Ordering::Relaxed);
        let error = match timeout(ANSWER, ask(&mut connection, &options)).await {
            Ok(Ok(())) => None,
            // A server that refuses this connection alone still serves others.
            Ok(Err(error))
                if error.as_database_error().is_some_and(|error| error.code().as_deref() == Some("53300")) =>
            {
                None
            }
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) if answers.load(Ordering::Relaxed) != before => None,
            Err(_) => Some("the server does not answer".to_owned()),
        };
        let answers = error.is_none();
        if !answers {
            connection = None;
        }
        sender.send_if_modified(|seen| {
            let changed = seen.error.is_some() == answers;
            let outage = if answers { seen.outage } else { Some(Instant::now()) };
            *seen = ServerState { error, outage };
            changed
        });
        sleep(if answers { INTERVAL } else { RETRY }).await;
    }
}

/// Asks on the open connection, or else on a new one: a connection that broke is no outage.
async fn ask(connection: &mut Option<PgConnection>, options: &PgConnectOptions) -> Result<(), Error> {
    if let Some(open) = connection
        && open.ping().await.is_ok()
    {
        return Ok(());
    }
    *connection = None;
    *connection = Some(options.connect().await?);
    Ok(())
}
