//! Operations on deployment objects: creating them from YAML and from templates.

use std::sync::Arc;

use dropforge::bulk::{Layers, Merge, Variants};
use dropforge::value::DataMap;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::render::{ParameterLayers, RenderOutcome, RenderRequest};
use super::review::Finding;
use super::stacks::stack_not_found;
use super::store::{Guard, IdempotencyToken, InstantiationRows, Metadata, NewObject, Page, StoreError, Usage, new_id};
use super::templates::{Created, Owner, template_not_found};
use super::{Actor, Catalog, CatalogError, DeploymentObject, ErrorKind, Provenance, Result, TemplateVersion, checksum};

/// A reference to a template version.
#[derive(Debug, Clone)]
pub enum TemplateSelector {
    /// A version by ID.
    Id(Uuid),
    /// The newest live version of a name.
    Newest(Owner, String),
}

/// A request to render a template into a stack.
#[derive(Debug, Clone)]
pub struct Instantiation {
    /// The template.
    pub template: TemplateSelector,
    /// The parameters, as received.
    pub parameters: Box<RawValue>,
    /// `true` to fill in missing parameters with schema defaults.
    pub defaults: bool,
}

/// Order of several failures. The first is the error, and the others are in its details.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureOrder {
    /// Matching, parameters, rendering: the order that Brokkr's clients expect.
    #[default]
    Wire,
    /// Parameters, matching, rendering.
    Seed,
}

/// One of several sets of parameters.
#[derive(Debug, Clone, Deserialize, utoipa::ToSchema)]
pub struct ParameterSet {
    /// Name of the set in the results, and of the release of a Helm chart. Default of the release: the template's name.
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
    pub errors: Vec<CatalogError>,
    /// Warnings about the rendered text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Finding>,
}

/// A template ready to render for many sets of parameters. Nothing is stored.
#[derive(Debug, Clone)]
pub struct Stamper {
    catalog: Catalog,
    actor: Actor,
    template: TemplateVersion,
    required: Metadata,
    defaults: bool,
    shared: Option<Arc<Layers>>,
    layers: Option<Arc<ParameterLayers>>,
    variants: Option<Arc<Variants>>,
}

impl Catalog {
    /// Renders a template into a stack. Validation, matching and rendering are all attempted, and all failures are
    /// reported.
    pub async fn instantiate(
        &self,
        actor: Actor,
        stack: Uuid,
        instantiation: &Instantiation,
        order: FailureOrder,
        token: Option<&IdempotencyToken>,
    ) -> Result<Created<DeploymentObject>> {
        if let Some(object) = self.replayed(token).await? {
            let row = self.object(actor, object).await?;
            return Ok(Created { row, warnings: Vec::new(), replayed: true });
        }
        let (owner, request) = self.render_request(actor, stack, instantiation).await?;
        let rendered = self.renderer().render_then(request, move |request, mut outcome| {
            let warnings = std::mem::take(&mut outcome.warnings);
            let mut object = NewObject::new(stack, rendered_text(outcome, order)?, false);
            object.provenance = Some(new_provenance(request, &object));
            Ok((object, warnings))
        });
        let (object, warnings) = rendered.await?;
        let (row, replayed) = self.add_object(actor, owner, &object, token).await?;
        Ok(Created { row, warnings, replayed })
    }

    /// Reads and authorises the template, stack and metadata of an instantiation.
    async fn render_request(
        &self,
        actor: Actor,
        stack: Uuid,
        instantiation: &Instantiation,
    ) -> Result<(Uuid, RenderRequest)> {
        let id = match &instantiation.template {
            TemplateSelector::Id(id) => *id,
            TemplateSelector::Newest(owner, name) => {
                actor.require_stack_change(&self.live_stack(stack).await?)?;
                self.newest(actor, *owner, name).await?.id
            }
        };
        let InstantiationRows { stack, template, template_metadata, stack_metadata } =
            self.store().instantiation_rows(stack, id).await?;
        let stack = stack.ok_or_else(|| stack_not_found()(StoreError::NotFound))?;
        actor.require_stack_change(&stack)?;
        let template = template.ok_or_else(|| template_not_found()(StoreError::NotFound))?;
        actor.require_read(&template)?;
        let request = RenderRequest {
            template_metadata,
            stack_metadata: Some(stack_metadata),
            defaults: instantiation.defaults,
            ..RenderRequest::new(template, instantiation.parameters.clone())
        };
        Ok((stack.generator_id, request))
    }

    /// Creates an object from YAML text. The flag is `true` if an earlier request with the same idempotency token
    /// created it.
    pub async fn create_object(
        &self,
        actor: Actor,
        stack: Uuid,
        yaml: String,
        deletion: bool,
        token: Option<&IdempotencyToken>,
    ) -> Result<(DeploymentObject, bool)> {
        let owner = self.live_stack(stack).await?;
        actor.require_stack_change(&owner)?;
        let object = self.renderer().run(move |scratch| {
            if !deletion || !yaml.is_empty() {
                scratch.require_yaml(&yaml)?;
            }
            Ok::<_, CatalogError>(NewObject::new(stack, yaml, deletion))
        });
        self.add_object(actor, owner.generator_id, &object.await??, token).await
    }

    async fn add_object(
        &self,
        actor: Actor,
        owner: Uuid,
        new: &NewObject,
        token: Option<&IdempotencyToken>,
    ) -> Result<(DeploymentObject, bool)> {
        let (guard, quota) = (Guard::once(token, new.id, new.at), (Some(owner), Usage::of_object(new)));
        match self.add_within_quota(guard, quota, self.store().create_object(new)).await? {
            Ok(object) => Ok((object, false)),
            Err(StoreError::Replayed(id)) => Ok((self.object(actor, id).await?, true)),
            Err(error) => Err(stack_not_found()(error)),
        }
    }

    /// Lists the live objects of a stack, newest first.
    pub async fn objects(&self, actor: Actor, stack: Uuid, page: &Page) -> Result<Vec<DeploymentObject>> {
        self.stack(actor, stack).await?;
        if let Some(last) = page.after {
            let last = self.store().object(last).await.map_err(not_a_cursor)?;
            (last.stack_id == stack).then_some(()).ok_or_else(CatalogError::bad_cursor)?;
        }
        Ok(self.store().objects(stack, page).await?)
    }

    /// Returns a live object.
    pub async fn object(&self, actor: Actor, id: Uuid) -> Result<DeploymentObject> {
        let missing = CatalogError::or_not_found("deployment_object_not_found", "deployment object not found");
        let object = self.store().object(id).await.map_err(missing)?;
        let stack = self.live_stack(object.stack_id).await?;
        actor.require_stack_read(&stack).map_err(|_| match actor {
            Actor::Agent => {
                CatalogError::forbidden("agent_not_associated", "agent is not associated with this deployment object")
            }
            _ => CatalogError::forbidden(
                "generator_not_associated",
                "generator is not associated with this deployment object",
            ),
        })?;
        Ok(object)
    }

    /// Prepares a template to be rendered for many sets of parameters.
    pub async fn stamper(&self, actor: Actor, template: Uuid) -> Result<Stamper> {
        let rows = self.store().instantiation_rows(Uuid::nil(), template).await?;
        let template = rows.template.ok_or_else(|| template_not_found()(StoreError::NotFound))?;
        actor.require_read(&template)?;
        Ok(Stamper {
            catalog: self.clone(),
            actor,
            template,
            required: rows.template_metadata,
            defaults: false,
            shared: None,
            layers: None,
            variants: None,
        })
    }
}

impl Stamper {
    /// Sets parameters that every set is merged over.
    pub fn over(mut self, shared: DataMap, merge: Merge) -> Self {
        self.shared = Some(Arc::new(Layers::new([shared], Vec::new(), merge)));
        self
    }

    /// Sets shared parameters and layers that every set is merged over.
    #[must_use]
    pub fn layered(self, layers: ParameterLayers) -> Self {
        Self { layers: Some(Arc::new(layers)), ..self }
    }

    /// Fills in missing parameters with schema defaults.
    #[must_use]
    pub fn with_defaults(self, defaults: bool) -> Self {
        Self { defaults, ..self }
    }

    /// Specialises the template to the shared parameters if that pays for these sets. `hold` is asked to hold the bytes
    /// that it takes. Sets that change what is known are rendered by the original, and results are the same.
    pub async fn specialised(mut self, sets: &Arc<[ParameterSet]>, hold: impl FnOnce(usize) -> bool) -> Self {
        let is_worth_asking = !self.defaults && sets.len() >= Variants::LEAST;
        let Some(shared) = self.shared.clone().filter(|_| is_worth_asking) else { return self };
        // An error is that of each set, too.
        let variants = self.catalog.renderer().variants(self.template.clone(), shared, sets.clone()).await;
        let variants = variants.ok().flatten().filter(|variants| hold(variants.memory()));
        self.variants = variants.map(Arc::new);
        self
    }

    /// Renders the template for one set, and continues with the result on the same thread. Errors are part of it.
    pub async fn stamp<R: Send + 'static>(&self, index: usize, set: ParameterSet, then: fn(&Stamped) -> R) -> R {
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
        let rendered = self.rendered(set, empty.clone(), then).await;
        rendered.unwrap_or_else(|error| then(&Stamped { status: error.kind.status(), errors: vec![error], ..empty }))
    }

    async fn rendered<R: Send + 'static>(
        &self,
        set: ParameterSet,
        empty: Stamped,
        then: fn(&Stamped) -> R,
    ) -> Result<R> {
        let stack_metadata = match set.stack_id {
            Some(id) => Some(self.catalog.stack_metadata(self.actor, id).await?),
            None => None,
        };
        let request = RenderRequest {
            template_metadata: self.required.clone(),
            stack_metadata,
            defaults: self.defaults,
            shared: self.shared.clone(),
            layers: self.layers.clone(),
            variants: self.variants.clone(),
            release: set.name,
            check_output: true,
            ..RenderRequest::new(self.template.clone(), set.parameters)
        };
        self.catalog.renderer().render_then(request, move |_, outcome| Ok(then(&stamped(outcome, empty)))).await
    }
}

/// The result of a set, of which `empty` has the name.
fn stamped(outcome: RenderOutcome, empty: Stamped) -> Stamped {
    match outcome {
        RenderOutcome { failures, text: Some(text), warnings, .. } if failures.is_empty() => {
            let yaml_checksum = Some(checksum(&text));
            Stamped { yaml_content: Some(text), yaml_checksum, warnings, ..empty }
        }
        RenderOutcome { failures, warnings, .. } => {
            let status = failures.first().map_or(500, |first| first.kind.status());
            Stamped { status, errors: failures, warnings, ..empty }
        }
    }
}

/// The error of reading the row that a cursor names.
pub(super) fn not_a_cursor(error: StoreError) -> CatalogError {
    match error {
        StoreError::NotFound => CatalogError::bad_cursor(),
        error => error.into(),
    }
}

/// The rendered text, or the first failure in `order` with the others in its details.
fn rendered_text(outcome: RenderOutcome, order: FailureOrder) -> Result<String> {
    let mut failures = outcome.failures;
    if order == FailureOrder::Wire {
        // Mismatches come first. The stable sort keeps the order of the others.
        failures.sort_by_key(|failure| failure.kind != ErrorKind::Unprocessable);
    }
    let mut failures = failures.into_iter();
    let Some(mut first) = failures.next() else {
        let nothing = || CatalogError::new(ErrorKind::Internal, "internal_error", "the render gave no text");
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

fn new_provenance(request: &RenderRequest, object: &NewObject) -> Provenance {
    let RenderRequest { template, parameters, defaults, .. } = request;
    Provenance {
        id: new_id(),
        deployment_object_id: object.id,
        template_id: template.id,
        template_version: template.version,
        template_parameters: parameters.get().to_owned(),
        defaults: *defaults,
        template_checksum: template.checksum.clone(),
        schema_checksum: checksum(&template.parameters_schema),
        parameters_checksum: checksum(parameters.get()),
        output_checksum: object.yaml_checksum.clone(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: object.at,
    }
}
