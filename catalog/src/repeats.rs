//! Repeated requests.
//!
//! A request with an idempotency key is carried out once. Repeating it is answered with the row that it created, also if
//! the quota of the row's owner is used up meanwhile.
//!
//! A request that creates a key and has an idempotency key gets the same key when it is repeated, although stores hold
//! only hashes of secrets: the new key is derived from the sender's own key, which no store holds either, and from a
//! random salt, which is stored with the request for as long as it may be repeated. So neither the store alone nor an
//! old key alone is enough to derive it.

use uuid::Uuid;

use super::store::{Guard, IdempotencyToken, StoreError, StoreResult, Usage};
use super::{Catalog, CatalogError, ErrorKind, KeyRow, Result};
use crate::keys::{Pak, random_text};

const SEEDS: &str = "dropforge catalog 2026-11 seed of the keys of repeated requests";
const KEYS: &str = "dropforge catalog 2026-11 key of a repeated request";
const SALT_LENGTH: usize = 32;

/// A secret of the sender of a request, from which keys are derived. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct KeySeed([u8; 32]);

impl std::fmt::Debug for KeySeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeySeed")
    }
}

impl KeySeed {
    /// The seed of the holder of a key.
    pub fn of(key: &str) -> Self {
        Self(blake3::derive_key(SEEDS, key.as_bytes()))
    }

    fn pak(&self, salt: &str, token: &IdempotencyToken) -> Result<Pak> {
        let mut hasher = blake3::Hasher::new_derive_key(KEYS);
        hasher.update(&self.0);
        // Neither a salt nor a checksum contains a space.
        hasher.update(format!("{salt} {} {}", token.request, token.key).as_bytes());
        let mut bytes = hasher.finalize_xof();
        Pak::from_bytes(|buffer| {
            bytes.fill(buffer);
            Ok(())
        })
    }
}

/// A new key, and the token to create it with.
pub(super) fn new_pak(token: Option<&IdempotencyToken>) -> Result<(Pak, Option<IdempotencyToken>)> {
    match token {
        Some(token @ IdempotencyToken { seed: Some(seed), .. }) => {
            let salt = random_text(SALT_LENGTH)?;
            Ok((seed.pak(&salt, token)?, Some(IdempotencyToken { salt: Some(salt), ..token.clone() })))
        }
        token => Ok((Pak::random()?, token.cloned())),
    }
}

impl Catalog {
    /// Adds a row of an owner that may have a quota, when it is the caller's turn. Returns `Replayed` if an earlier
    /// request with the guard's token added it.
    ///
    /// # Errors
    /// `quota_exceeded`.
    pub(super) async fn add_within_quota<T>(
        &self,
        guard: Guard,
        (owner, more): (Option<Uuid>, Usage),
        change: impl Future<Output = StoreResult<T>>,
    ) -> Result<StoreResult<T>> {
        let _turn = self.turn_to_write(more.bytes).await;
        let reserved = match self.reserve(owner, more).await {
            Ok(reserved) => reserved,
            // What was added before needs no room.
            Err(refusal) => match self.replayed(guard.token()).await? {
                Some(id) => return Ok(Err(StoreError::Replayed(id))),
                None => return Err(refusal),
            },
        };
        let done = guard.scope(change).await;
        if done.is_ok() {
            reserved.keep();
        }
        Ok(done)
    }

    /// The ID of the row that an earlier request with this token created, if there was one.
    pub(super) async fn replayed(&self, token: Option<&IdempotencyToken>) -> Result<Option<Uuid>> {
        let Some(token) = token else { return Ok(None) };
        match self.store().replayed(token).await {
            Ok(id) => Ok(Some(id)),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The key that an earlier request with this token created for `owner`, if it still works.
    ///
    /// # Errors
    /// `key_not_repeatable`.
    pub(super) async fn repeated_key(
        &self,
        token: Option<&IdempotencyToken>,
        owner: Option<Uuid>,
    ) -> Result<(KeyRow, String)> {
        let Some(token @ IdempotencyToken { seed: Some(seed), .. }) = token else { return Err(not_repeatable()) };
        let salt = self.store().salt(token).await?.ok_or_else(not_repeatable)?;
        let pak = seed.pak(&salt, token)?;
        match self.store().key(pak.short_token()).await {
            Ok(row) if pak.opens(&row) && row.generator_id == owner => Ok((row, pak.reveal())),
            Ok(_) | Err(StoreError::NotFound) => Err(not_repeatable()),
            Err(error) => Err(error.into()),
        }
    }
}

fn not_repeatable() -> CatalogError {
    let message = "the request was carried out before, and its key no longer works: create or rotate a key with another \
        `Idempotency-Key`";
    CatalogError::new(ErrorKind::Conflict, "key_not_repeatable", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(key: &str, request: &str, sender: &str) -> IdempotencyToken {
        let (key, request) = (key.to_owned(), request.to_owned());
        IdempotencyToken { key, request, seed: Some(KeySeed::of(sender)), salt: None }
    }

    #[test]
    fn a_key_is_derived_from_everything_and_is_the_same_again() {
        let (pak, made) = new_pak(Some(&token("k", "r", "sender"))).unwrap();
        let salt = made.unwrap().salt.unwrap();
        let again = |key: &str, request: &str, sender: &str, salt: &str| {
            KeySeed::of(sender).pak(salt, &token(key, request, sender)).unwrap().reveal()
        };
        let pak = pak.reveal();
        assert!(Pak::parse(&pak).is_some());
        assert_eq!(again("k", "r", "sender", &salt), pak);
        for other in [
            again("K", "r", "sender", &salt),
            again("k", "R", "sender", &salt),
            again("k", "r", "another", &salt),
            again("k", "r", "sender", "another"),
        ] {
            assert_ne!(other, pak);
        }
        // Every first request has a salt of its own.
        assert_ne!(new_pak(Some(&token("k", "r", "sender"))).unwrap().0.reveal(), pak);
    }

    #[test]
    fn debug_shows_no_seed() {
        assert_eq!(format!("{:?}", KeySeed::of("sender")), "KeySeed");
    }
}
