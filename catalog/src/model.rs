//! What a catalog holds. These are the rows of the stores and the objects of the wire: field names, types and what may
//! be null are those that Brokkr's clients expect.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A moment, in whole microseconds: what both stores and the wire keep.
pub type Moment = DateTime<Utc>;

/// Who brings templates and stacks in: a pipeline, a team, a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Generator {
    /// Names the generator.
    pub id: Uuid,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was changed last.
    pub updated_at: DateTime<Utc>,
    /// When it was deleted.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Unique among those that are not deleted.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// When its key was used last.
    pub last_active_at: Option<DateTime<Utc>>,
    /// Whether its key has been used.
    pub is_active: bool,
    /// Whether it is one of the catalog's own.
    pub is_system: bool,
}

/// One version of a template. Nothing of it changes but its labels and annotations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TemplateVersion {
    /// Names this version.
    pub id: Uuid,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was changed last.
    pub updated_at: DateTime<Utc>,
    /// When it was deleted.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Whose it is; nobody's: a system template.
    pub generator_id: Option<Uuid>,
    /// What all its versions are called.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// From 1, without gap or duplicate among the live versions of one owner and name.
    pub version: i32,
    /// The template, in Tera.
    pub template_content: String,
    /// A JSON Schema, as text.
    pub parameters_schema: String,
    /// SHA-256 of the content, in lower-case hexadecimal digits.
    pub checksum: String,
}

/// A label that a stack must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TemplateLabel {
    /// Names the row.
    pub id: Uuid,
    /// Of which version.
    pub template_id: Uuid,
    /// The label.
    pub label: String,
    /// When it was added.
    pub created_at: DateTime<Utc>,
}

/// An annotation that a stack must have, with this value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TemplateAnnotation {
    /// Names the row.
    pub id: Uuid,
    /// Of which version.
    pub template_id: Uuid,
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// When it was added.
    pub created_at: DateTime<Utc>,
}

/// Where rendered objects go: the deployment of one thing into one environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Stack {
    /// Names the stack.
    pub id: Uuid,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was changed last.
    pub updated_at: DateTime<Utc>,
    /// When it was deleted.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Unique among those that are not deleted, whoever owns them.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// Whose it is.
    pub generator_id: Uuid,
}

/// A label of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StackLabel {
    /// Names the row.
    pub id: Uuid,
    /// Of which stack.
    pub stack_id: Uuid,
    /// The label.
    pub label: String,
}

/// An annotation of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StackAnnotation {
    /// Names the row.
    pub id: Uuid,
    /// Of which stack.
    pub stack_id: Uuid,
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// What is to be deployed. Nothing of it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeploymentObject {
    /// Names the object.
    pub id: Uuid,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was changed last.
    pub updated_at: DateTime<Utc>,
    /// When it was deleted.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Grows with each object.
    pub sequence_id: i64,
    /// Into which stack.
    pub stack_id: Uuid,
    /// YAML.
    pub yaml_content: String,
    /// SHA-256 of the content, in lower-case hexadecimal digits.
    pub yaml_checksum: String,
    /// When it was handed in.
    pub submitted_at: DateTime<Utc>,
    /// Whether it says that what was deployed before is to go.
    pub is_deletion_marker: bool,
}

/// What a deployment object was rendered from: enough to render it again and to see that the same bytes come out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Provenance {
    /// Names the record.
    pub id: Uuid,
    /// What was rendered.
    pub deployment_object_id: Uuid,
    /// The version it was rendered from.
    pub template_id: Uuid,
    /// That version's number when it was rendered. A number of a deleted version comes free again: the id and the
    /// checksums tell which version it was.
    pub template_version: i32,
    /// The parameters, as JSON in the order of the request.
    pub template_parameters: String,
    /// Whether defaults of the schema filled in what the parameters left out.
    pub defaults: bool,
    /// SHA-256 of the template's content.
    pub template_checksum: String,
    /// SHA-256 of the schema's text.
    pub schema_checksum: String,
    /// SHA-256 of the parameters' text.
    pub parameters_checksum: String,
    /// SHA-256 of the rendered text.
    pub output_checksum: String,
    /// The version of dropforge that rendered it.
    pub engine: String,
    /// When it was rendered.
    pub created_at: DateTime<Utc>,
}

/// What a key lets its holder be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees and changes everything.
    Admin,
    /// Sees everything.
    Readonly,
    /// Fetches what is deployed; sees nothing of templates.
    Agent,
    /// Sees system templates and what is its own.
    Generator,
}

impl Role {
    /// As stores and the wire have it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Admin => "admin",
            Role::Readonly => "readonly",
            Role::Agent => "agent",
            Role::Generator => "generator",
        }
    }

    /// The role with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Role::Admin, Role::Readonly, Role::Agent, Role::Generator].into_iter().find(|role| role.name() == name)
    }
}

/// A key as a store holds it: everything but the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyRow {
    /// Names the key.
    pub id: Uuid,
    /// The part of the key that is no secret, by which it is found: eight characters that begin with `BR`.
    pub short_token: String,
    /// SHA-256 of the secret part.
    #[serde(skip)]
    pub hash: String,
    /// What it lets its holder be.
    pub role: Role,
    /// Whose it is, of a generator's key.
    pub generator_id: Option<Uuid>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
}
