//! Permissions.
//!
//! | | system template | own template | other template | own stack | other stack |
//! |---|---|---|---|---|---|
//! | admin | read, change | | read, change | | read, change |
//! | read-only | read | | read | | read |
//! | generator | read | read, change | – | read, change | – |
//! | agent | – | | – | | – |

use uuid::Uuid;

use super::error::{CatalogError, Result};
use super::model::{Role, Stack, TemplateVersion};

/// The caller of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// Reads and changes everything.
    Admin,
    /// Reads everything.
    Readonly,
    /// Has no access to templates.
    Agent,
    /// Reads system templates. Reads and changes its own templates and stacks.
    Generator(Uuid),
}

impl Actor {
    /// The role of its key.
    pub fn role(self) -> Role {
        match self {
            Actor::Admin => Role::Admin,
            Actor::Readonly => Role::Readonly,
            Actor::Agent => Role::Agent,
            Actor::Generator(_) => Role::Generator,
        }
    }

    /// Returns `true` if it can read everything.
    pub fn reads_all(self) -> bool {
        matches!(self, Actor::Admin | Actor::Readonly)
    }

    /// Its ID, if it is a generator.
    pub fn generator(self) -> Option<Uuid> {
        match self {
            Actor::Generator(id) => Some(id),
            _ => None,
        }
    }

    fn owns(self, owner: Option<Uuid>) -> bool {
        self == Actor::Admin || (owner.is_some() && self.generator() == owner)
    }

    /// The generator whose templates its lists contain, beside those of the system. `None` stands for all templates.
    pub(super) fn visibility(self) -> Result<Option<Uuid>> {
        match self {
            Actor::Admin | Actor::Readonly => Ok(None),
            Actor::Generator(id) => Ok(Some(id)),
            Actor::Agent => {
                Err(CatalogError::forbidden("templates_not_accessible", "not authorized to access templates"))
            }
        }
    }

    /// The owner of templates that it creates.
    pub(super) fn owner(self) -> Result<Option<Uuid>> {
        match self {
            Actor::Admin => Ok(None),
            Actor::Generator(id) => Ok(Some(id)),
            _ => Err(CatalogError::forbidden("template_create_denied", "not authorized to create templates")),
        }
    }

    /// Requires permission to read a template.
    pub(super) fn require_read(self, template: &TemplateVersion) -> Result<()> {
        let owner = template.generator_id;
        let allowed = match self {
            Actor::Generator(id) => owner.is_none_or(|owner| owner == id),
            Actor::Agent => false,
            Actor::Admin | Actor::Readonly => true,
        };
        allow(allowed, "template_not_accessible", "not authorized to access this template")
    }

    /// Requires permission to change a template. `what` is the verb of the message: "modify", "delete".
    pub(super) fn require_change(self, template: &TemplateVersion, what: &str) -> Result<()> {
        let is_owner = self.owns(template.generator_id);
        allow(is_owner, "template_not_owned", &format!("not authorized to {what} this template"))
    }

    /// Requires permission to change a stack and its contents.
    pub(super) fn require_stack_change(self, stack: &Stack) -> Result<()> {
        allow(self.owns(Some(stack.generator_id)), "stack_not_owned", "not authorized to access this stack")
    }

    /// Requires permission to read a stack and its contents.
    pub(super) fn require_stack_read(self, stack: &Stack) -> Result<()> {
        if self == Actor::Readonly { Ok(()) } else { self.require_stack_change(stack) }
    }

    /// Requires an administrator.
    pub(super) fn require_admin(self) -> Result<()> {
        allow(self == Actor::Admin, "admin_required", "admin access required")
    }

    /// Requires an administrator or a read-only key.
    pub(super) fn require_read_all(self) -> Result<()> {
        if self == Actor::Readonly { Ok(()) } else { self.require_admin() }
    }
}

fn allow(is_allowed: bool, code: &str, message: &str) -> Result<()> {
    if is_allowed { Ok(()) } else { Err(CatalogError::forbidden(code, message)) }
}
