//! Who may see and change what.
//!
//! | | system template | own template | another's template | own stack | another's stack |
//! |---|---|---|---|---|---|
//! | admin | see, change | | see, change | | see, change |
//! | read-only | see | | see | | see |
//! | generator | see | see, change | nothing | see, change | nothing |
//! | agent | nothing | | nothing | | nothing |

use uuid::Uuid;

use super::model::{Role, Stack, TemplateVersion};
use super::refusal::{Refusal, Result};
use super::store::Sight;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// May do everything.
    Admin,
    /// May see everything.
    Readonly,
    /// May see nothing of templates.
    Agent,
    /// May see system templates, and see and change its own.
    Generator(Uuid),
}

impl Actor {
    /// What kind of key it holds.
    pub fn role(self) -> Role {
        match self {
            Actor::Admin => Role::Admin,
            Actor::Readonly => Role::Readonly,
            Actor::Agent => Role::Agent,
            Actor::Generator(_) => Role::Generator,
        }
    }

    /// Whether it sees everything.
    pub fn sees_all(self) -> bool {
        matches!(self, Actor::Admin | Actor::Readonly)
    }

    /// The generator it is, if it is one.
    pub fn generator(self) -> Option<Uuid> {
        match self {
            Actor::Generator(id) => Some(id),
            _ => None,
        }
    }

    fn is_of(self, owner: Option<Uuid>) -> bool {
        self == Actor::Admin || (owner.is_some() && self.generator() == owner)
    }

    /// Which templates its lists show.
    pub(super) fn sight(self) -> Result<Sight> {
        match self {
            Actor::Admin | Actor::Readonly => Ok(Sight::All),
            Actor::Generator(id) => Ok(Sight::Of(id)),
            Actor::Agent => Err(Refusal::forbidden("templates_not_accessible", "not authorized to access templates")),
        }
    }

    /// For whom a template that it makes is.
    pub(super) fn owner(self) -> Result<Option<Uuid>> {
        match self {
            Actor::Admin => Ok(None),
            Actor::Generator(id) => Ok(Some(id)),
            _ => Err(Refusal::forbidden("template_create_denied", "not authorized to create templates")),
        }
    }

    /// Whether it may read this version.
    pub(super) fn may_read(self, template: &TemplateVersion) -> Result<()> {
        let owner = template.generator_id;
        let allowed = match self {
            Actor::Generator(id) => owner.is_none_or(|owner| owner == id),
            Actor::Agent => false,
            Actor::Admin | Actor::Readonly => true,
        };
        let refusal = || Refusal::forbidden("template_not_accessible", "not authorized to access this template");
        allowed.then_some(()).ok_or_else(refusal)
    }

    /// Whether it may do this ("modify", "delete") to this version.
    pub(super) fn may_change(self, template: &TemplateVersion, what: &str) -> Result<()> {
        let refusal = || Refusal::forbidden("template_not_owned", format!("not authorized to {what} this template"));
        self.is_of(template.generator_id).then_some(()).ok_or_else(refusal)
    }

    /// Whether it may change this stack and what is in it.
    pub(super) fn may_change_stack(self, stack: &Stack) -> Result<()> {
        let refusal = || Refusal::forbidden("stack_not_owned", "not authorized to access this stack");
        self.is_of(Some(stack.generator_id)).then_some(()).ok_or_else(refusal)
    }

    /// Whether it may read this stack and what is in it.
    pub(super) fn may_read_stack(self, stack: &Stack) -> Result<()> {
        if self == Actor::Readonly { Ok(()) } else { self.may_change_stack(stack) }
    }

    /// Whether it is an administrator.
    pub(super) fn must_be_admin(self) -> Result<()> {
        let refusal = || Refusal::forbidden("admin_required", "admin access required");
        (self == Actor::Admin).then_some(()).ok_or_else(refusal)
    }

    /// Whether it is an administrator or may only look.
    pub(super) fn must_see_all(self) -> Result<()> {
        if self == Actor::Readonly { Ok(()) } else { self.must_be_admin() }
    }
}
