//! Keys of the form `brokkr_BR<6 characters>_<24 characters>`: a prefix, a short token for lookup, and a secret. Stores
//! hold only the SHA-256 of the secret.
//!
//! The secret is 24 of 62 characters, which is 142 bits. Its hash cannot be reversed by guessing, so it needs neither a
//! salt nor a slow hash.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use super::error::{CatalogError, ErrorKind, Result};
use super::model::{KeyRow, Role, Timestamp, now};
use super::store::{StoreResult, new_id};
use crate::checksum;

const PREFIX: &str = "brokkr_";
const SHORT_LENGTH: usize = 8;
const SECRET_LENGTH: usize = 24;
const LENGTH: usize = PREFIX.len() + SHORT_LENGTH + 1 + SECRET_LENGTH;
const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Generates a key, for [`Catalog::initialise`](crate::Catalog::initialise).
///
/// # Errors
/// [`ErrorKind::Internal`] if the system has no randomness.
pub fn new_key() -> Result<String> {
    Ok(Pak::random()?.reveal())
}

/// A key with its secret. `Debug` shows only the short token.
pub(super) struct Pak(String);

impl std::fmt::Debug for Pak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pak({PREFIX}{}_…)", self.short_token())
    }
}

impl Pak {
    /// Generates a key from the system's randomness.
    ///
    /// # Errors
    /// `ErrorKind::Internal` if the system has no randomness.
    pub(super) fn random() -> Result<Self> {
        Self::from_bytes(fill_random)
    }

    /// Makes a key of bytes.
    ///
    /// # Errors
    /// Those of `fill`.
    pub(super) fn from_bytes(mut fill: impl FnMut(&mut [u8]) -> Result<()>) -> Result<Self> {
        let (short, long) = (text_of(SHORT_LENGTH - 2, &mut fill)?, text_of(SECRET_LENGTH, &mut fill)?);
        Ok(Self(format!("{PREFIX}BR{short}_{long}")))
    }

    /// Parses a key. Returns `None` if its form is wrong.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // With the right length and every byte checked, the text is ASCII.
        let rest = Some(text).filter(|text| text.len() == LENGTH)?.strip_prefix(PREFIX)?;
        let (short, long) = rest.split_once('_')?;
        let valid =
            short.len() == SHORT_LENGTH && short.starts_with("BR") && is_alphanumeric(short) && is_alphanumeric(long);
        valid.then(|| Self(text.to_owned()))
    }

    /// The public part.
    pub(super) fn short_token(&self) -> &str {
        self.0.get(PREFIX.len()..PREFIX.len() + SHORT_LENGTH).unwrap_or_default()
    }

    /// SHA-256 of the secret.
    pub(super) fn hash(&self) -> String {
        let secret = self.0.get(LENGTH - SECRET_LENGTH..).unwrap_or_default();
        checksum(secret)
    }

    /// Returns `true` if this is the key of a live row. Compares in constant time.
    pub(super) fn opens(&self, row: &KeyRow) -> bool {
        let same = self.hash().as_bytes().ct_eq(row.hash.as_bytes());
        bool::from(same) && row.short_token == self.short_token() && row.is_live(now())
    }

    /// The row to store for the key.
    pub(super) fn row(&self, role: Role, generator_id: Option<uuid::Uuid>, at: Timestamp) -> KeyRow {
        let short_token = self.short_token().to_owned();
        KeyRow {
            id: new_id(),
            short_token,
            hash: self.hash(),
            role,
            generator_id,
            created_at: at,
            revoked_at: None,
            name: None,
            expires_at: None,
            last_used_at: None,
        }
    }

    /// The whole key, to show once.
    pub(super) fn reveal(self) -> String {
        self.0
    }
}

fn is_alphanumeric(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Random characters of the alphabet.
pub(super) fn random_text(length: usize) -> Result<String> {
    text_of(length, &mut fill_random)
}

fn fill_random(bytes: &mut [u8]) -> Result<()> {
    let failed =
        |error| CatalogError::new(ErrorKind::Internal, "internal_error", format!("no randomness available: {error}"));
    getrandom::fill(bytes).map_err(failed)
}

/// Characters of the alphabet, uniformly distributed if the bytes are: values of six bits beyond the alphabet are
/// discarded.
fn text_of(length: usize, fill: &mut impl FnMut(&mut [u8]) -> Result<()>) -> Result<String> {
    let mut text = String::with_capacity(length);
    let mut bytes = [0; 32];
    while text.len() < length {
        fill(&mut bytes)?;
        let characters = bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte & 63)));
        text.extend(characters.take(length - text.len()).map(|&character| char::from(character)));
    }
    Ok(text)
}

/// Time for which a row is used without asking the store again. Changes by other processes take effect after it.
const FRESH: Duration = Duration::from_secs(2);
/// Number of keys that are kept.
const KEYS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Rows of keys that were valid a moment ago, by short token, so that not every request looks its key up in the store.
#[derive(Debug)]
pub(super) struct KnownKeys(Mutex<CachedRows>);

#[derive(Debug)]
struct CachedRows {
    rows: LruCache<String, (Instant, KeyRow)>,
    /// The number of changes so far. A row that was read before a change is not kept after it.
    changes: u64,
}

impl Default for KnownKeys {
    fn default() -> Self {
        Self(Mutex::new(CachedRows { rows: LruCache::new(KEYS), changes: 0 }))
    }
}

impl KnownKeys {
    /// The row of a key, from memory or from `read`. The secret is not compared.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) async fn row(&self, pak: &Pak, read: impl AsyncFnOnce() -> StoreResult<KeyRow>) -> StoreResult<KeyRow> {
        let token = pak.short_token();
        let changes = {
            let mut known = self.lock();
            if let Some((_, row)) = known.rows.get(token).filter(|(at, _)| at.elapsed() < FRESH) {
                return Ok(row.clone());
            }
            known.changes
        };
        let row = read().await?;
        let mut known = self.lock();
        // Strangers who know the token only cannot push out the rows of others.
        if known.changes == changes && pak.opens(&row) {
            known.rows.put(token.to_owned(), (Instant::now(), row.clone()));
        }
        Ok(row)
    }

    /// Carries out a change of keys or generators, and forgets all rows.
    pub(super) async fn forget_after<T>(&self, change: impl Future<Output = T>) -> T {
        let done = change.await;
        let mut known = self.lock();
        known.changes += 1;
        known.rows.clear();
        done
    }

    fn lock(&self) -> MutexGuard<'_, CachedRows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::model::{Role, now};
    use super::*;
    use crate::store::StoreError;

    #[test]
    fn a_new_key_is_valid_and_opens_its_row() {
        let pak = Pak::random().unwrap();
        let row = pak.row(Role::Admin, None, chrono::Utc::now());
        assert!(pak.opens(&row) && row.short_token.len() == 8 && row.hash.len() == 64);
        let text = pak.reveal();
        assert_eq!(text.len(), 40);
        assert!(text.starts_with(&format!("brokkr_{}_", row.short_token)) && row.short_token.starts_with("BR"));
        assert!(Pak::parse(&text).unwrap().opens(&row));
    }

    #[test]
    fn another_key_a_revoked_key_and_another_secret_open_nothing() {
        let (pak, other) = (Pak::random().unwrap(), Pak::random().unwrap());
        let row = pak.row(Role::Generator, None, chrono::Utc::now());
        assert!(!other.opens(&row));
        assert!(!other.opens(&KeyRow { short_token: other.short_token().to_owned(), ..row.clone() }));
        assert!(!pak.opens(&KeyRow { revoked_at: Some(chrono::Utc::now()), ..row.clone() }));
        assert!(!pak.opens(&KeyRow { expires_at: Some(chrono::Utc::now()), ..row.clone() }));
        let later = chrono::Utc::now() + chrono::TimeDelta::minutes(1);
        assert!(pak.opens(&KeyRow { expires_at: Some(later), ..row.clone() }));
        assert!(!pak.opens(&KeyRow { hash: String::new(), ..row.clone() }));
        assert!(!pak.opens(&KeyRow { hash: row.hash.to_uppercase(), ..row }));
    }

    #[test]
    fn the_hash_is_of_the_long_part_alone() {
        let pak = Pak::parse("brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVWX").unwrap();
        assert_eq!(pak.short_token(), "BRabcdef");
        assert_eq!(pak.hash(), checksum(b"ABCDEFGHIJKLMNOPQRSTUVWX"));
    }

    #[test]
    fn debug_shows_no_secret() {
        let pak = Pak::parse("brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVWX").unwrap();
        assert_eq!(format!("{pak:?}"), "Pak(brokkr_BRabcdef_…)");
    }

    #[test]
    fn text_of_another_form_is_not_a_key() {
        let good = "brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVWX";
        let bad = [
            "",
            "brokkr_",
            "brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVW",
            "brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVWXY",
            "brokkr_BRabcde_ABCDEFGHIJKLMNOPQRSTUVWXY",
            "brokkr_XXabcdef_ABCDEFGHIJKLMNOPQRSTUVWX",
            "Brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVWX",
            "brokkr_BRabcde-_ABCDEFGHIJKLMNOPQRSTUVWX",
            "brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVW_",
            "brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVW\0",
            "brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVé",
            "brokkr_BRabcdé_ABCDEFGHIJKLMNOPQRSTUVWX",
        ];
        assert!(Pak::parse(good).is_some());
        for text in bad {
            assert!(Pak::parse(text).is_none(), "{text:?}");
        }
        assert!(Pak::parse(&format!(" {good}")).is_none() && Pak::parse(&good.repeat(1000)).is_none());
    }

    #[test]
    fn every_character_of_the_alphabet_comes_as_often_as_any_other() {
        let text = random_text(62_000).unwrap();
        for character in ALPHABET {
            let seen = text.bytes().filter(|byte| byte == character).count();
            // 1000 are expected with a standard deviation of 31, so the bounds are seven deviations wide.
            assert!((780..1220).contains(&seen), "{} comes {seen} times", char::from(*character));
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_takes_what_it_gives_back(text in ".{0,60}", key in "brokkr_.{0,9}_.{20,26}") {
            for text in [text, key] {
                if let Some(pak) = Pak::parse(&text) {
                    prop_assert_eq!(pak.hash().len(), 64);
                    prop_assert_eq!(pak.reveal(), text);
                }
            }
        }
    }

    fn key() -> (Pak, KeyRow) {
        let pak = Pak::random().unwrap();
        let row = pak.row(Role::Admin, None, now());
        (pak, row)
    }

    /// Returns `true` if the row comes from memory.
    async fn is_known(keys: &KnownKeys, pak: &Pak) -> bool {
        keys.row(pak, async || Err(StoreError::NotFound)).await.is_ok()
    }

    #[tokio::test]
    async fn a_valid_key_is_known_until_a_change() {
        let (keys, (pak, row)) = (KnownKeys::default(), key());
        assert!(!is_known(&keys, &pak).await);
        assert_eq!(keys.row(&pak, async || Ok(row.clone())).await.unwrap(), row);
        assert!(is_known(&keys, &pak).await);
        keys.forget_after(async {}).await;
        assert!(!is_known(&keys, &pak).await);
    }

    #[tokio::test]
    async fn a_row_read_before_a_change_is_not_kept_after_it() {
        let (keys, (pak, row)) = (KnownKeys::default(), key());
        let read = async || {
            keys.forget_after(async {}).await;
            Ok(row.clone())
        };
        keys.row(&pak, read).await.unwrap();
        assert!(!is_known(&keys, &pak).await);
    }

    #[tokio::test]
    async fn a_wrong_secret_or_a_revoked_key_is_not_kept() {
        let (keys, (pak, row), (_, other)) = (KnownKeys::default(), key(), key());
        let wrong = KeyRow { hash: other.hash, ..row.clone() };
        let revoked = KeyRow { revoked_at: Some(now()), ..row };
        for row in [wrong, revoked] {
            keys.row(&pak, async || Ok(row)).await.unwrap();
            assert!(!is_known(&keys, &pak).await);
        }
    }

    #[tokio::test]
    async fn the_store_is_asked_again_after_a_while() {
        let (keys, (pak, row)) = (KnownKeys::default(), key());
        let long_ago = Instant::now().checked_sub(FRESH).unwrap();
        keys.lock().rows.put(pak.short_token().to_owned(), (long_ago, row));
        assert!(!is_known(&keys, &pak).await);
    }
}
