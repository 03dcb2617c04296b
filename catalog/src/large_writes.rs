//! Large writes, which keep a store busy for long.

use std::time::Instant;

use tokio::runtime::Handle;

use super::fair::{Gate, Pass};

/// Bytes of a large write.
const LARGE: u64 = 64 << 10;
/// Number of large writes at a time, of which a caller has one.
const PLACES: usize = 2;

/// The large writes of all callers. After a write its place stays empty for as long as the write took, so a caller who
/// writes large texts all the time leaves half of the store's time to others.
#[derive(Debug)]
pub(super) struct LargeWrites(Gate);

impl Default for LargeWrites {
    fn default() -> Self {
        Self(Gate::new(PLACES, 1))
    }
}

impl LargeWrites {
    /// Waits for the caller's turn to write so many bytes. The write may take until the result is dropped.
    pub(super) async fn turn(&self, bytes: u64) -> Option<LargeWrite> {
        if bytes < LARGE {
            return None;
        }
        let pass = self.0.pass().await;
        Some(LargeWrite { pass, begun: Instant::now() })
    }
}

/// A large write under way.
#[derive(Debug)]
pub(super) struct LargeWrite {
    pass: Option<Pass>,
    begun: Instant,
}

impl Drop for LargeWrite {
    fn drop(&mut self) {
        let (pass, took) = (self.pass.take(), self.begun.elapsed());
        // Without a runtime nobody waits.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(took).await;
                drop(pass);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::Actor;
    use crate::fair::Identity;

    fn generator(n: u128) -> Identity {
        Identity::Caller(Actor::Generator(Uuid::from_u128(n)))
    }

    async fn soon<T>(future: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout(Duration::from_millis(1), future).await.ok()
    }

    #[tokio::test]
    async fn a_caller_has_one_large_write_at_a_time() {
        let writes = LargeWrites::default();
        let first = generator(1).scope(writes.turn(LARGE)).await;
        assert!(soon(generator(1).scope(writes.turn(LARGE))).await.is_none());
        assert!(soon(generator(1).scope(writes.turn(LARGE - 1))).await.is_some(), "a small one does not wait");
        assert!(soon(generator(2).scope(writes.turn(LARGE))).await.is_some(), "another caller does not wait");
        drop(first);
        assert!(generator(1).scope(writes.turn(LARGE)).await.is_some());
    }

    #[tokio::test]
    async fn a_place_stays_empty_for_as_long_as_its_write_took() {
        let writes = LargeWrites::default();
        let mut first = writes.turn(LARGE).await.unwrap();
        first.begun = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        drop(first);
        assert!(soon(writes.turn(LARGE)).await.is_none());
    }
}
