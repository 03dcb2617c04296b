//! Operations on generators and keys.

use std::time::Duration;

use chrono::{DateTime, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::keys::Pak;
use super::store::{IdempotencyToken, Page, StoreError, new_id};
use super::{Actor, Catalog, CatalogError, ErrorKind, Generator, KeyRow, Result, Role, now, validation};

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
    /// `true` if the generator is in use.
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
        let row = match self.store().key(pak.short_token()).await {
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
            self.store().touch_generator(id, now()).await?;
        }
        Ok(())
    }

    /// Adds an administrator key if there is none: `key_text`, or a new one, which is returned and never shown
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

    /// Creates a key for a role other than generator. The secret is returned only here.
    pub async fn create_key(&self, actor: Actor, new: &KeyInput) -> Result<(KeyRow, String)> {
        actor.require_admin()?;
        if new.role == Role::Generator {
            let message = "a generator's key is created with the generator: rotate it for a new one";
            return Err(CatalogError::invalid("invalid_role", message));
        }
        new.name.as_deref().map_or(Ok(()), validation::template_name)?;
        if new.expires_at.is_some_and(|end| end <= now()) {
            return Err(CatalogError::invalid("invalid_expiry", "`expires_at` is in the past"));
        }
        let pak = Pak::random()?;
        let row = pak.row(new.role, None, now());
        let row = KeyRow { name: new.name.clone(), expires_at: new.expires_at.map(|end| end.trunc_subsecs(6)), ..row };
        self.store().add_key(&row).await?;
        Ok((row, pak.reveal()))
    }

    /// Lists all keys, without their secrets.
    pub async fn keys(&self, actor: Actor) -> Result<Vec<KeyRow>> {
        actor.require_read_all()?;
        Ok(self.store().keys().await?)
    }

    /// Revokes a key immediately.
    pub async fn revoke_key(&self, actor: Actor, id: Uuid) -> Result<()> {
        actor.require_admin()?;
        let missing = CatalogError::or_not_found("key_not_found", "key not found");
        self.store().revoke_key(id, now()).await.map_err(missing)
    }

    /// Lists live generators.
    pub async fn generators(&self, actor: Actor, page: &Page) -> Result<Vec<Generator>> {
        actor.require_read_all()?;
        Ok(self.store().generators(page).await?)
    }

    /// Creates a generator and its key. The secret is returned only here.
    pub async fn create_generator(
        &self,
        actor: Actor,
        new: &GeneratorInput,
        token: Option<&IdempotencyToken>,
    ) -> Result<(Generator, String)> {
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
        let pak = Pak::random()?;
        let key = pak.row(Role::Generator, Some(generator.id), at);
        let generator = self.store().create_generator(&generator, &key, token).await?;
        Ok((generator, pak.reveal()))
    }

    /// Returns a live generator.
    pub async fn generator(&self, actor: Actor, id: Uuid) -> Result<Generator> {
        if actor != Actor::Readonly {
            require_self(actor, id)?;
        }
        self.live_generator(id).await
    }

    /// Changes a generator.
    pub async fn update_generator(&self, actor: Actor, id: Uuid, change: &GeneratorChange) -> Result<Generator> {
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
        self.store().update_generator(&generator).await.map_err(generator_not_found())
    }

    /// Deletes a generator, its stacks and its templates, and revokes its key.
    pub async fn delete_generator(&self, actor: Actor, id: Uuid) -> Result<()> {
        require_self(actor, id)?;
        if self.live_generator(id).await?.is_system {
            let message = "a system generator cannot be deleted";
            return Err(CatalogError::forbidden("cannot_delete_system_generator", message));
        }
        self.store().delete_generator(id, now()).await.map_err(generator_not_found())
    }

    /// Replaces the key of a generator. The secret is returned only here, and the old key stops working immediately.
    pub async fn rotate(&self, actor: Actor, id: Uuid) -> Result<(Generator, String)> {
        require_self(actor, id)?;
        let generator = self.live_generator(id).await?;
        let pak = Pak::random()?;
        let key = pak.row(Role::Generator, Some(id), now());
        self.store().rotate_key(id, &key, now()).await.map_err(generator_not_found())?;
        Ok((generator, pak.reveal()))
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
