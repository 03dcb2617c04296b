//! Conditions of a change, checked in its transaction.
//!
//! They reach the store as a task-local, like the origin of a change: they are conditions of a request, and no method of
//! a store is concerned with them.

use uuid::Uuid;

use super::types::IdempotencyToken;
use crate::model::{MetadataKind, MetadataOwner, Timestamp};

tokio::task_local! {
    static GUARD: Guard;
}

/// Conditions of a change. If one does not hold, nothing changes and the store returns an error.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The token, and the ID and creation time of the row that the change creates.
    pub(super) once: Option<(IdempotencyToken, Uuid, Timestamp)>,
    pub(super) requires: Option<Requirement>,
}

/// A state that a change requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// The last change of the stack was at this time.
    Stack(Uuid, Timestamp),
    /// The last change of the generator was at this time.
    Generator(Uuid, Timestamp),
    /// The version is the newest live one of its owner and name.
    Newest(Uuid),
    /// The row of a label or an annotation exists.
    Metadata(MetadataOwner, MetadataKind, Uuid),
    /// There is another live administrator key than this one, or this is none.
    OtherAdminKey(Uuid),
}

impl Guard {
    /// Carries a request out once, if it has a token: `Replayed` if a request with this token was carried out before,
    /// `TokenReused` if that was a different one. `created` and `at` are the ID and the creation time of the row that the
    /// change creates.
    pub fn once(token: Option<&IdempotencyToken>, created: Uuid, at: Timestamp) -> Self {
        Self { once: token.cloned().map(|token| (token, created, at)), requires: None }
    }

    /// Requires a state, if there is a requirement. `Stale` or `LastAdminKey` if the state is another.
    pub fn requiring(requirement: impl Into<Option<Requirement>>) -> Self {
        Self::default().and(requirement)
    }

    /// Also requires a state, as [`Guard::requiring`] does.
    #[must_use]
    pub fn and(self, requirement: impl Into<Option<Requirement>>) -> Self {
        Self { requires: requirement.into(), ..self }
    }

    /// Runs `change` with these conditions.
    pub async fn scope<T>(self, change: impl Future<Output = T>) -> T {
        GUARD.scope(self, change).await
    }

    /// The token of the request.
    pub(crate) fn token(&self) -> Option<&IdempotencyToken> {
        self.once.as_ref().map(|(token, ..)| token)
    }

    /// The conditions of the current task.
    pub(super) fn current() -> Self {
        GUARD.try_with(Self::clone).unwrap_or_default()
    }

    /// Returns `true` if changes of the current task have conditions.
    pub(super) fn is_set() -> bool {
        GUARD.try_with(|guard| guard.once.is_some() || guard.requires.is_some()).unwrap_or_default()
    }
}
