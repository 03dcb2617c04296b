//! Operations on deployment objects: creating them from YAML and from templates.

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::render::{Outcome, Trial, documents};
use super::review::Finding;
use super::stacks::stack_missing;
use super::store::{Instantiable, Marks, NewObject, Page, StoreError, Token, new_id};
use super::templates::{Owner, template_missing};
use super::{
    Actor, Catalog, Class, DeploymentObject, Provenance, Refusal, Result, TemplateVersion, checksum, names, now,
};

/// A reference to a template version.
#[derive(Debug, Clone)]
pub enum Which {
    /// A version by ID.
    Id(Uuid),
    /// The newest live version of a name.
    Newest(Owner, String),
}

/// A request to render a template into a stack.
#[derive(Debug, Clone)]
pub struct Instantiation {
    /// The template.
    pub template: Which,
    /// The parameters, as received.
    pub parameters: Box<RawValue>,
    /// `true` to fill in missing parameters with schema defaults.
    pub defaults: bool,
}

/// Order of several failures. The first is the error, and the others are in its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Matching, parameters, rendering: the order that Brokkr's clients expect.
    Wire,
    /// Parameters, matching, rendering.
    Seed,
}

/// A rendered object.
#[derive(Debug, Clone)]
pub struct Instantiated {
    /// The object.
    pub object: DeploymentObject,
    /// Warnings about the rendered text.
    pub warnings: Vec<Finding>,
    /// `true` if an earlier request with the same idempotency token created it.
    pub repeated: bool,
}

/// One of several sets of parameters.
#[derive(Debug, Clone, Deserialize, utoipa::ToSchema)]
pub struct ParameterSet {
    /// Name of the set in the results.
    #[serde(default)]
    pub name: Option<String>,
    /// Stack whose labels and annotations must match. Default: none.
    #[serde(default)]
    pub stack_id: Option<Uuid>,
    /// The parameters.
    #[schema(value_type = serde_json::Value)]
    pub parameters: Box<RawValue>,
}

/// The result for one set of parameters.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Stamped {
    /// Position of the set, counted from 0.
    pub index: usize,
    /// Name of the set.
    pub name: Option<String>,
    /// 200, or the status that a request with this set alone would have.
    pub status: u16,
    /// Rendered text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaml_content: Option<String>,
    /// SHA-256 of the rendered text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaml_checksum: Option<String>,
    /// All errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Refusal>,
    /// Warnings about the rendered text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Finding>,
}

/// A template ready to render for many sets of parameters. Nothing is stored.
#[derive(Debug, Clone)]
pub struct Stamping {
    catalog: Catalog,
    who: Actor,
    template: TemplateVersion,
    wanted: Marks,
    defaults: bool,
}

impl Catalog {
    /// Renders a template into a stack. Validation, matching and rendering are all attempted, and all failures are
    /// reported.
    pub async fn instantiate(
        &self,
        who: Actor,
        stack: Uuid,
        what: &Instantiation,
        order: Order,
        token: Option<&Token>,
    ) -> Result<Instantiated> {
        if let Some(object) = self.made_before(token).await? {
            let object = self.object(who, object).await?;
            return Ok(Instantiated { object, warnings: Vec::new(), repeated: true });
        }
        let (template, trial) = self.trial(who, stack, what).await?;
        let outcome = self.renderer().try_out(trial).await?;
        let warnings = outcome.warnings.clone();
        let text = text_of(outcome, order)?;
        let mut object = new_object(stack, text, false);
        object.provenance = Some(provenance_of(&template, what, &object));
        let (object, repeated) = self.add_object(who, &object, token).await?;
        Ok(Instantiated { object, warnings, repeated })
    }

    /// Reads and authorises the template, stack and metadata of an instantiation.
    async fn trial(&self, who: Actor, stack: Uuid, what: &Instantiation) -> Result<(TemplateVersion, Trial)> {
        let id = match &what.template {
            Which::Id(id) => *id,
            Which::Newest(owner, name) => {
                who.may_change_stack(&self.live_stack(stack).await?)?;
                self.newest(who, *owner, name).await?.id
            }
        };
        let Instantiable { stack, template, wanted, given } =
            self.store().instantiable(stack, id).await.map_err(Refusal::of_store)?;
        who.may_change_stack(&stack.ok_or_else(|| stack_missing()(StoreError::Missing))?)?;
        let template = template.ok_or_else(|| template_missing()(StoreError::Missing))?;
        who.may_read(&template)?;
        let parameters = what.parameters.clone();
        let trial =
            Trial { template: template.clone(), wanted, given: Some(given), parameters, defaults: what.defaults };
        Ok((template, trial))
    }

    async fn made_before(&self, token: Option<&Token>) -> Result<Option<Uuid>> {
        let Some(token) = token else { return Ok(None) };
        match self.store().made(token).await {
            Ok(id) => Ok(Some(id)),
            Err(StoreError::Missing) => Ok(None),
            Err(error) => Err(Refusal::of_store(error)),
        }
    }

    /// Creates an object from YAML text. The flag is `true` if an earlier request with the same idempotency token
    /// created it.
    pub async fn create_object(
        &self,
        who: Actor,
        stack: Uuid,
        yaml: &str,
        deletion: bool,
        token: Option<&Token>,
    ) -> Result<(DeploymentObject, bool)> {
        who.may_change_stack(&self.live_stack(stack).await?)?;
        if !deletion || !yaml.is_empty() {
            must_be_yaml(yaml)?;
        }
        self.add_object(who, &new_object(stack, yaml.to_owned(), deletion), token).await
    }

    async fn add_object(&self, who: Actor, new: &NewObject, token: Option<&Token>) -> Result<(DeploymentObject, bool)> {
        match self.store().create_object(new, token).await {
            Ok(object) => Ok((object, false)),
            Err(StoreError::Repeated(id)) => Ok((self.object(who, id).await?, true)),
            Err(error) => Err(stack_missing()(error)),
        }
    }

    /// Lists the live objects of a stack, newest first.
    pub async fn objects(&self, who: Actor, stack: Uuid, page: &Page) -> Result<Vec<DeploymentObject>> {
        self.stack(who, stack).await?;
        self.store().objects(stack, page).await.map_err(Refusal::of_store)
    }

    /// Returns a live object.
    pub async fn object(&self, who: Actor, id: Uuid) -> Result<DeploymentObject> {
        let missing = Refusal::or_missing("deployment_object_not_found", "deployment object not found");
        let object = self.store().object(id).await.map_err(missing)?;
        let stack = self.live_stack(object.stack_id).await?;
        who.may_read_stack(&stack).map_err(|_| match who {
            Actor::Agent => {
                Refusal::forbidden("agent_not_associated", "agent is not associated with this deployment object")
            }
            _ => Refusal::forbidden(
                "generator_not_associated",
                "generator is not associated with this deployment object",
            ),
        })?;
        Ok(object)
    }

    /// Prepares a template to be rendered for many sets of parameters.
    pub async fn stamping(&self, who: Actor, template: Uuid, defaults: bool) -> Result<Stamping> {
        let template = self.template(who, template).await?;
        let labels = self.store().template_labels(template.id).await.map_err(template_missing())?;
        let annotations = self.store().template_annotations(template.id).await.map_err(template_missing())?;
        let wanted = Marks {
            labels: labels.into_iter().map(|row| row.label).collect(),
            annotations: annotations.into_iter().map(|row| (row.key, row.value)).collect(),
        };
        Ok(Stamping { catalog: self.clone(), who, template, wanted, defaults })
    }
}

impl Stamping {
    /// Renders the template for one set. Errors are part of the result.
    pub async fn stamp(&self, index: usize, set: ParameterSet) -> Stamped {
        let name = set.name.clone();
        let empty = Stamped {
            index,
            name,
            status: 200,
            yaml_content: None,
            yaml_checksum: None,
            errors: Vec::new(),
            warnings: Vec::new(),
        };
        match self.outcome(set).await {
            Ok(Outcome { failures, text: Some(text), warnings, .. }) if failures.is_empty() => {
                let yaml_checksum = Some(checksum(&text));
                Stamped { yaml_content: Some(text), yaml_checksum, warnings, ..empty }
            }
            Ok(Outcome { failures, warnings, .. }) => {
                let status = failures.first().map_or(500, |first| first.class.status());
                Stamped { status, errors: failures, warnings, ..empty }
            }
            Err(refusal) => Stamped { status: refusal.class.status(), errors: vec![refusal], ..empty },
        }
    }

    async fn outcome(&self, set: ParameterSet) -> Result<Outcome> {
        let given = match set.stack_id {
            Some(id) => {
                self.catalog.stack(self.who, id).await?;
                Some(self.catalog.marks_of_stack(id).await?)
            }
            None => None,
        };
        let (template, wanted) = (self.template.clone(), self.wanted.clone());
        let trial = Trial { template, wanted, given, parameters: set.parameters, defaults: self.defaults };
        self.catalog.renderer().try_out(trial).await
    }
}

/// The rendered text, or the first failure in `order` with the others in its details.
fn text_of(outcome: Outcome, order: Order) -> Result<String> {
    let mut failures = outcome.failures;
    if order == Order::Wire {
        // Mismatches come first. The stable sort keeps the order of the others.
        failures.sort_by_key(|failure| failure.class != Class::Unprocessable);
    }
    let mut failures = failures.into_iter();
    let Some(mut first) = failures.next() else {
        let nothing = || Refusal::new(Class::Internal, "internal_error", "the render gave no text");
        return outcome.text.ok_or_else(nothing);
    };
    let others: Vec<_> = failures.collect();
    if !others.is_empty() {
        let details = first.details.get_or_insert_with(|| json!({}));
        if let Some(details) = details.as_object_mut() {
            details.insert("also".to_owned(), json!(others));
        }
    }
    Err(first)
}

/// Requires YAML with at least one document.
fn must_be_yaml(text: &str) -> Result<()> {
    names::yaml(text)?;
    let invalid = |message: &str| Refusal::invalid("invalid_deployment_object", message);
    match documents(text) {
        Ok(0) => Err(invalid("YAML content has no documents")),
        Ok(_) => Ok(()),
        Err(findings) => {
            let first = findings.first().map_or("", |first| first.message.as_str());
            Err(invalid(&format!("invalid YAML: {first}")).with(json!({ "findings": findings })))
        }
    }
}

fn new_object(stack_id: Uuid, yaml_content: String, is_deletion_marker: bool) -> NewObject {
    let yaml_checksum = checksum(&yaml_content);
    let (id, at) = (new_id(), now());
    NewObject { id, at, stack_id, yaml_content, yaml_checksum, is_deletion_marker, provenance: None }
}

fn provenance_of(template: &TemplateVersion, what: &Instantiation, object: &NewObject) -> Provenance {
    Provenance {
        id: new_id(),
        deployment_object_id: object.id,
        template_id: template.id,
        template_version: template.version,
        template_parameters: what.parameters.get().to_owned(),
        defaults: what.defaults,
        template_checksum: template.checksum.clone(),
        schema_checksum: checksum(&template.parameters_schema),
        parameters_checksum: checksum(what.parameters.get()),
        output_checksum: object.yaml_checksum.clone(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: object.at,
    }
}
