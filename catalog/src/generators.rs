//! Operations on generators and keys.

use std::time::Duration;

use chrono::{DateTime, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::keys::Pak;
use super::repeats::new_pak;
use super::store::{Guard, IdempotencyToken, Page, Requirement, StoreError, new_id};
use super::{Actor, Catalog, CatalogError, ErrorKind, Generator, KeyRow, Result, Role, Timestamp, now, validation};

/// Minimum interval between recorded uses of a generator's key.
const ACTIVITY_INTERVAL: Duration = Duration::from_secs(60);

/// A request to create a generator.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GeneratorInput {
    /// Name, unique among live generators.
    pub name: String,
    /// Description.
    #[serde(default)]
    pub description: Option<String>,
}

/// A request to create a key.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = CreateKeyRequest)]
pub struct KeyInput {
    /// Role of the key. `generator` is not allowed: a generator's key is created with the generator.
    pub role: Role,
    /// Name, for lists and the audit trail.
    #[serde(default)]
    pub name: Option<String>,
    /// Time from which the key is refused. Default: never.
    #[serde(default)]
    pub expires_at: Option<DateTime<Utc>>,
}

/// A change to a generator. Absent fields keep their values.
#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GeneratorChange {
    /// Name.
    #[serde(default)]
    pub name: Option<String>,
    /// Description.
    #[serde(default)]
    pub description: Option<String>,
    /// `false` stops the key of the generator at once, `true` lets it work again.
    #[serde(default)]
    pub is_active: Option<bool>,
}

impl Catalog {
    /// Returns the actor that holds a key.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthorized`] if nobody does, for any reason.
    pub async fn authenticate(&self, pak: &str) -> Result<Actor> {
        Ok(self.identify(pak).await?.0)
    }

    /// Returns the actor that holds a key, and the row of the key.
    ///
    /// # Errors
    /// As for [`Catalog::authenticate`].
    pub async fn identify(&self, pak: &str) -> Result<(Actor, KeyRow)> {
        let nobody = || CatalogError::new(ErrorKind::Unauthorized, "unauthorized", "a valid key is required");
        let pak = Pak::parse(pak).ok_or_else(nobody)?;
        let row = match self.known_keys().row(&pak, async || self.store().key(pak.short_token()).await).await {
            Ok(row) => row,
            Err(StoreError::NotFound) => return Err(nobody()),
            Err(error) => return Err(error.into()),
        };
        if !pak.opens(&row) {
            return Err(nobody());
        }
        let actor = match (row.role, row.generator_id) {
            (Role::Admin, _) => Actor::Admin,
            (Role::Readonly, _) => Actor::Readonly,
            (Role::Agent, _) => Actor::Agent,
            (Role::Generator, Some(id)) => {
                self.record_activity(id).await?;
                Actor::Generator(id)
            }
            (Role::Generator, None) => return Err(nobody()),
        };
        self.record_use(row.id);
        Ok((actor, row))
    }

    /// Records the use of a key, at most once in [`ACTIVITY_INTERVAL`]. The request does not wait for it, and does not
    /// fail with it.
    fn record_use(&self, key: Uuid) {
        if self.activity_due(key, ACTIVITY_INTERVAL) {
            let catalog = self.clone();
            tokio::spawn(async move { drop(catalog.store().touch_key(key, now()).await) });
        }
    }

    /// Records that a generator's key was used, at most once in [`ACTIVITY_INTERVAL`].
    async fn record_activity(&self, id: Uuid) -> Result<()> {
        if self.activity_due(id, ACTIVITY_INTERVAL) {
            match self.store().touch_generator(id, now()).await {
                // The generator can still read.
                Ok(()) | Err(StoreError::Unavailable(..)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Adds an administrator key if no live one exists: `key_text`, or a new one, which is returned and never shown
    /// again.
    ///
    /// # Errors
    /// `invalid_key` if `key_text` has the wrong form.
    pub async fn initialise(&self, key_text: Option<&str>) -> Result<Option<String>> {
        let wrong = || {
            CatalogError::invalid(
                "invalid_key",
                "a key has the form `brokkr_BRxxxxxx_` followed by 24 letters and digits",
            )
        };
        let pak = match key_text {
            Some(text) => Pak::parse(text.trim()).ok_or_else(wrong)?,
            None => Pak::random()?,
        };
        let added = self.store().add_first_key(&pak.row(Role::Admin, None, now())).await?;
        Ok(added.then(|| pak.reveal()))
    }

    /// Returns `true` if there is a live administrator key.
    pub async fn has_admin_key(&self) -> Result<bool> {
        let (keys, at) = (self.store().keys().await?, now());
        let live = |key: &KeyRow| key.revoked_at.is_none() && key.expires_at.is_none_or(|end| end > at);
        Ok(keys.iter().any(|key| key.role == Role::Admin && live(key)))
    }

    /// Creates a key for a role other than generator. The secret is returned only here. The flag is `true` if an earlier
    /// request with the same idempotency token created it.
    pub async fn create_key(
        &self,
        actor: Actor,
        new: &KeyInput,
        token: Option<&IdempotencyToken>,
    ) -> Result<(KeyRow, String, bool)> {
        actor.require_admin()?;
        if new.role == Role::Generator {
            let message = "a generator's key is created with the generator: rotate it for a new one";
            return Err(CatalogError::invalid("invalid_role", message));
        }
        new.name.as_deref().map_or(Ok(()), validation::template_name)?;
        if new.expires_at.is_some_and(|end| end <= now()) {
            return Err(CatalogError::invalid("invalid_expiry", "`expires_at` is in the past"));
        }
        let (pak, once) = new_pak(token)?;
        let row = pak.row(new.role, None, now());
        let row = KeyRow { name: new.name.clone(), expires_at: new.expires_at.map(|end| end.trunc_subsecs(6)), ..row };
        match Guard::once(once.as_ref(), row.id, row.created_at).scope(self.store().add_key(&row)).await {
            Ok(()) => Ok((row, pak.reveal(), false)),
            Err(StoreError::Replayed(_)) => {
                let (row, pak) = self.repeated_key(token, None).await?;
                Ok((row, pak, true))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Lists all keys, without their secrets.
    pub async fn keys(&self, actor: Actor) -> Result<Vec<KeyRow>> {
        actor.require_read_all()?;
        Ok(self.store().keys().await?)
    }

    /// Revokes a key immediately. Only with `force` is the last live administrator key revoked.
    ///
    /// # Errors
    /// `last_admin_key`.
    pub async fn revoke_key(&self, actor: Actor, id: Uuid, force: bool) -> Result<()> {
        actor.require_admin()?;
        let missing = CatalogError::or_not_found("key_not_found", "key not found");
        let guard = Guard::requiring((!force).then_some(Requirement::OtherAdminKey(id)));
        self.known_keys().forget_after(guard.scope(self.store().revoke_key(id, now()))).await.map_err(missing)
    }

    /// Lists live generators.
    pub async fn generators(&self, actor: Actor, page: &Page) -> Result<Vec<Generator>> {
        actor.require_read_all()?;
        Ok(self.store().generators(page).await?)
    }

    /// Creates a generator and its key. The secret is returned only here. The flag is `true` if an earlier request with
    /// the same idempotency token created them.
    pub async fn create_generator(
        &self,
        actor: Actor,
        new: &GeneratorInput,
        token: Option<&IdempotencyToken>,
    ) -> Result<(Generator, String, bool)> {
        actor.require_admin()?;
        validation::name(&new.name)?;
        validation::description(new.description.as_deref())?;
        let at = now();
        let generator = Generator {
            id: new_id(),
            created_at: at,
            updated_at: at,
            deleted_at: None,
            name: new.name.clone(),
            description: new.description.clone(),
            last_active_at: None,
            is_active: true,
            is_system: false,
        };
        let (pak, once) = new_pak(token)?;
        let key = pak.row(Role::Generator, Some(generator.id), at);
        let change = self.store().create_generator(&generator, &key);
        match Guard::once(once.as_ref(), generator.id, at).scope(change).await {
            Ok(generator) => Ok((generator, pak.reveal(), false)),
            Err(StoreError::Replayed(id)) => {
                let (_, pak) = self.repeated_key(token, Some(id)).await?;
                Ok((self.live_generator(id).await?, pak, true))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns a live generator.
    pub async fn generator(&self, actor: Actor, id: Uuid) -> Result<Generator> {
        if actor != Actor::Readonly {
            require_self(actor, id)?;
        }
        self.live_generator(id).await
    }

    /// Changes a generator. `expected` is the time of the last change that the caller has seen.
    pub async fn update_generator(
        &self,
        actor: Actor,
        id: Uuid,
        change: &GeneratorChange,
        expected: Option<Timestamp>,
    ) -> Result<Generator> {
        require_self(actor, id)?;
        let mut generator = self.live_generator(id).await?;
        if let Some(name) = &change.name {
            validation::name(name)?;
            generator.name.clone_from(name);
        }
        if change.description.is_some() {
            validation::description(change.description.as_deref())?;
            generator.description.clone_from(&change.description);
        }
        generator.is_active = change.is_active.unwrap_or(generator.is_active);
        generator.updated_at = now();
        let guard = Guard::requiring(expected.map(|at| Requirement::Generator(id, at)));
        let update = guard.scope(self.store().update_generator(&generator));
        self.known_keys().forget_after(update).await.map_err(generator_not_found())
    }

    /// Deletes a generator, its stacks and its templates, and revokes its key. `expected` is the time of the last change
    /// that the caller has seen.
    pub async fn delete_generator(&self, actor: Actor, id: Uuid, expected: Option<Timestamp>) -> Result<()> {
        require_self(actor, id)?;
        if self.live_generator(id).await?.is_system {
            let message = "a system generator cannot be deleted";
            return Err(CatalogError::forbidden("cannot_delete_system_generator", message));
        }
        let guard = Guard::requiring(expected.map(|at| Requirement::Generator(id, at)));
        let delete = guard.scope(self.store().delete_generator(id, now()));
        self.known_keys().forget_after(delete).await.map_err(generator_not_found())
    }

    /// Replaces the key of a generator. The secret is returned only here, and the old key stops working immediately. The
    /// flag is `true` if an earlier request with the same idempotency token replaced it.
    pub async fn rotate(
        &self,
        actor: Actor,
        id: Uuid,
        token: Option<&IdempotencyToken>,
    ) -> Result<(Generator, String, bool)> {
        require_self(actor, id)?;
        let generator = self.live_generator(id).await?;
        let (pak, once) = new_pak(token)?;
        let at = now();
        let key = pak.row(Role::Generator, Some(id), at);
        let rotate = Guard::once(once.as_ref(), key.id, at).scope(self.store().rotate_key(id, &key, at));
        match self.known_keys().forget_after(rotate).await {
            Ok(()) => Ok((generator, pak.reveal(), false)),
            Err(StoreError::Replayed(_)) => Ok((generator, self.repeated_key(token, Some(id)).await?.1, true)),
            Err(error) => Err(generator_not_found()(error)),
        }
    }

    async fn live_generator(&self, id: Uuid) -> Result<Generator> {
        self.store().generator(id).await.map_err(generator_not_found())
    }
}

fn generator_not_found() -> impl Fn(StoreError) -> CatalogError {
    CatalogError::or_not_found("generator_not_found", "generator not found")
}

fn require_self(actor: Actor, id: Uuid) -> Result<()> {
    let denied = || CatalogError::forbidden("generator_not_owned", "not authorized to access this generator");
    (actor == Actor::Admin || actor.generator() == Some(id)).then_some(()).ok_or_else(denied)
}
