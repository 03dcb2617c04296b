//! Rows of the stores, which are also the objects of the REST API. Field names, types and nullability are those that
//! Brokkr's clients expect.

use chrono::{DateTime, SubsecRound, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::content::{Encoding, Language};

/// A point in time in whole microseconds, the precision of both stores and the wire format.
pub type Timestamp = DateTime<Utc>;

/// The current time in whole microseconds, the precision of the stores and the wire format.
pub fn now() -> Timestamp {
    Utc::now().trunc_subsecs(6)
}

/// A producer of templates and stacks: a pipeline, a team, a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Generator {
    /// ID of the generator.
    pub id: Uuid,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
    /// Deletion time.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Name, unique among generators that are not deleted.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Time its key was last used.
    pub last_active_at: Option<DateTime<Utc>>,
    /// `true` if its key works.
    pub is_active: bool,
    /// `true` for the catalog's own generators.
    pub is_system: bool,
}

/// One version of a template. Only its labels and annotations can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TemplateVersion {
    /// ID of the version.
    pub id: Uuid,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
    /// Deletion time.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Owner. System templates have none.
    pub generator_id: Option<Uuid>,
    /// Name, shared by all versions of the template.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Version number, counted from 1 without gaps among the live versions of one owner and name.
    pub version: i32,
    /// Template text, in Tera; or a packed Helm chart, in base64.
    pub template_content: String,
    /// JSON Schema of the parameters, as text.
    pub parameters_schema: String,
    /// SHA-256 of the template text, or of the bytes of a packed chart, in lower-case hexadecimal.
    pub checksum: String,
    /// Language. Absent for Tera.
    #[serde(default, skip_serializing_if = "Language::is_tera")]
    pub language: Language,
    /// Encoding of the content. Absent for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}

/// An owner of labels and annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataOwner {
    /// A template version. Stacks must have its labels and annotations.
    Template(Uuid),
    /// A stack.
    Stack(Uuid),
}

impl MetadataOwner {
    /// ID of the owner.
    pub fn id(self) -> Uuid {
        match self {
            Self::Template(id) | Self::Stack(id) => id,
        }
    }
}

/// The kind of metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataKind {
    /// Has a key only.
    Label,
    /// Has a key and a value.
    Annotation,
}

/// A label or an annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataRow {
    /// ID of the row.
    pub id: Uuid,
    /// The owner.
    pub owner: MetadataOwner,
    /// The label, or the key of the annotation.
    pub key: String,
    /// The value of the annotation.
    pub value: Option<String>,
    /// Creation time. Not stored for stacks.
    pub created_at: Option<Timestamp>,
}

impl MetadataRow {
    /// The kind.
    pub fn kind(&self) -> MetadataKind {
        if self.value.is_some() { MetadataKind::Annotation } else { MetadataKind::Label }
    }
}

/// A destination of rendered objects: the deployment of one thing into one environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Stack {
    /// ID of the stack.
    pub id: Uuid,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
    /// Deletion time.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Name, unique among all stacks that are not deleted.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Owner.
    pub generator_id: Uuid,
}

/// An immutable object to deploy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeploymentObject {
    /// ID of the object.
    pub id: Uuid,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
    /// Deletion time.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Sequence number. Increases with every object.
    pub sequence_id: i64,
    /// ID of the stack.
    pub stack_id: Uuid,
    /// YAML text.
    pub yaml_content: String,
    /// SHA-256 of the YAML text, in lower-case hexadecimal.
    pub yaml_checksum: String,
    /// Submission time.
    pub submitted_at: DateTime<Utc>,
    /// `true` if earlier objects of the stack must be removed.
    pub is_deletion_marker: bool,
}

/// A record of one render: enough to repeat it and to check that the same bytes come out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Provenance {
    /// ID of the record.
    pub id: Uuid,
    /// ID of the rendered object.
    pub deployment_object_id: Uuid,
    /// ID of the template version.
    pub template_id: Uuid,
    /// Number of the template version at render time. The number of a deleted version is reused, so the ID and the
    /// checksums identify the version.
    pub template_version: i32,
    /// Parameters as JSON, in the order of the request.
    pub template_parameters: String,
    /// `true` if schema defaults filled in missing parameters.
    pub defaults: bool,
    /// SHA-256 of the template text.
    pub template_checksum: String,
    /// SHA-256 of the schema text.
    pub schema_checksum: String,
    /// SHA-256 of the parameters text.
    pub parameters_checksum: String,
    /// SHA-256 of the rendered text.
    pub output_checksum: String,
    /// Version of dropforge that rendered the object.
    pub engine: String,
    /// Render time.
    pub created_at: DateTime<Utc>,
}

/// The role of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads and changes everything.
    Admin,
    /// Reads everything.
    Readonly,
    /// Fetches deployment objects. Has no access to templates.
    Agent,
    /// Reads system templates. Reads and changes its own templates and stacks.
    Generator,
}

impl Role {
    /// The name in stores and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Role::Admin => "admin",
            Role::Readonly => "readonly",
            Role::Agent => "agent",
            Role::Generator => "generator",
        }
    }

    /// Looks up a role by name.
    pub fn named(name: &str) -> Option<Self> {
        [Role::Admin, Role::Readonly, Role::Agent, Role::Generator].into_iter().find(|role| role.name() == name)
    }
}

/// A key as stored: everything but the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyRow {
    /// ID of the key.
    pub id: Uuid,
    /// Public part of the key, used to look it up: eight characters that begin with `BR`.
    pub short_token: String,
    /// SHA-256 of the secret part.
    #[serde(skip)]
    pub hash: String,
    /// Role.
    pub role: Role,
    /// ID of the generator that owns the key. Other roles have none.
    pub generator_id: Option<Uuid>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Revocation time.
    pub revoked_at: Option<DateTime<Utc>>,
    /// Name, for people.
    pub name: Option<String>,
    /// Time from which the key is refused.
    pub expires_at: Option<DateTime<Utc>>,
    /// Time of its last use, at most a minute too early.
    pub last_used_at: Option<DateTime<Utc>>,
}

impl KeyRow {
    /// Returns `true` if the key is neither revoked nor expired at `at`.
    pub fn is_live(&self, at: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| at < end)
    }
}
