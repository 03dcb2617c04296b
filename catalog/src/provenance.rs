//! Provenance of deployment objects: reading records, verifying and explaining them by rendering again, and previewing
//! another version.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::parameters::REDACTED;
use super::render::{RenderOutcome, RenderRequest, Renderer};
use super::store::{Instance, Metadata, Page, StoreError};
use super::{
    Actor, Catalog, CatalogError, DeploymentObject, ErrorKind, Language, Provenance, Result, TemplateVersion, checksum,
};
use dropforge::bulk::why::{Answer, LinePlace};
use dropforge::bulk::{unified_diff, without_secrets};
use dropforge::mask::Mask;

/// Number of instances that a preview reads at once.
const PREVIEW_ROWS: u32 = 64;
/// Bytes of texts after which a page of a preview ends.
const PREVIEW_BYTES: usize = 8 << 20;

/// A rendered text, or the errors.
type Rendered = Result<String, Vec<CatalogError>>;

/// The result of verifying a record.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Verification {
    /// ID of the object.
    pub deployment_object_id: Uuid,
    /// `true` if the same template, schema and parameters gave the same bytes.
    pub verified: bool,
    /// The record.
    pub provenance: Provenance,
    /// SHA-256 of the new render.
    pub found_checksum: Option<String>,
    /// Differences from the record.
    pub problems: Vec<String>,
    /// Diff from the stored text to the new render.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// Instances that another version changes in the same way.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Change {
    /// The instances.
    pub instances: Vec<Changed>,
    /// Diff of the first instance.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// Errors of all instances under the other version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<CatalogError>,
}

/// An instance that another version changes.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Changed {
    /// ID of the object.
    pub deployment_object_id: Uuid,
    /// ID of the stack.
    pub stack_id: Uuid,
    /// Number of the version that the object was rendered from.
    pub template_version: i32,
}

/// The changes if all instances of a template were rendered with one version.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Changes {
    /// ID of the version.
    pub template_id: Uuid,
    /// Number of instances checked.
    pub instances: usize,
    /// Number of instances that would not change.
    pub unchanged: usize,
    /// Changed instances, grouped by change.
    pub changes: Vec<Change>,
    /// Cursor of the next page: the ID of the last instance, if there may be more.
    pub next: Option<Uuid>,
}

impl Catalog {
    /// Returns the record of an object. Secret parameters are redacted.
    pub async fn provenance(&self, actor: Actor, object: Uuid) -> Result<Provenance> {
        self.object(actor, object).await?;
        let record = self.read_record(object).await?;
        let template = self.store().template_including_deleted(record.template_id).await?;
        let renderer = self.renderer().clone();
        self.renderer().run(move |_| redacted(&renderer, record, &template)).await
    }

    /// Reads the record of an object that the actor may read.
    async fn read_record(&self, object: Uuid) -> Result<Provenance> {
        let missing = CatalogError::or_not_found("provenance_not_found", "the object was not rendered from a template");
        self.store().provenance(object).await.map_err(missing)
    }

    /// Returns objects with `***` in place of the secrets that they were rendered from.
    pub async fn without_secrets(&self, objects: Vec<DeploymentObject>) -> Result<Vec<DeploymentObject>> {
        let mut shown = Vec::with_capacity(objects.len());
        for object in objects {
            shown.push(self.without_secrets_of(object).await?);
        }
        Ok(shown)
    }

    async fn without_secrets_of(&self, object: DeploymentObject) -> Result<DeploymentObject> {
        let record = match self.store().provenance(object.id).await {
            Ok(record) => record,
            // It was submitted as text.
            Err(StoreError::NotFound) => return Ok(object),
            Err(error) => return Err(error.into()),
        };
        let template = self.store().template_including_deleted(record.template_id).await?;
        if !may_have_secrets(&template) {
            return Ok(object);
        }
        let (renderer, request) = (self.renderer().clone(), again(template, None, record)?);
        let hidden = self.renderer().run(move |_| {
            let yaml_content = renderer.mask(&request).hidden_as(&object.yaml_content, REDACTED).into_owned();
            DeploymentObject { yaml_content, ..object }
        });
        hidden.await
    }

    /// Reads the text, the record and the template of an object that was rendered.
    async fn rendered_object(&self, actor: Actor, object: Uuid) -> Result<(String, Provenance, TemplateVersion)> {
        let stored = self.object(actor, object).await?.yaml_content;
        let record = self.read_record(object).await?;
        let template = self.store().template_including_deleted(record.template_id).await?;
        // A stack may have another owner than the template that its object was rendered from.
        actor.require_read(&template)?;
        Ok((stored, record, template))
    }

    /// Renders an object again from its record, and finds what wrote a place in its text. Secret parameters are not shown.
    pub async fn why(&self, actor: Actor, object: Uuid, place: LinePlace) -> Result<Answer> {
        let (text, record, template) = self.rendered_object(actor, object).await?;
        let request = again(template, None, record)?;
        self.renderer().why(request, (object.to_string(), text), place).await
    }

    /// Renders an object again from its record and compares the bytes.
    pub async fn verify(&self, actor: Actor, object: Uuid) -> Result<Verification> {
        let (stored, record, template) = self.rendered_object(actor, object).await?;
        let (renderer, compared_record) = (self.renderer().clone(), record.clone());
        let compare = move |request: &_, rendered| compared(&renderer, &stored, rendered, compared_record, request);
        self.rerender(template, None, record, compare).await
    }

    /// Renders the parameters of a record with a template, and continues with the text or the errors on the same thread.
    async fn rerender<R: Send + 'static>(
        &self,
        template: TemplateVersion,
        metadata: Option<(Metadata, Metadata)>,
        record: Provenance,
        then: impl FnOnce(&RenderRequest, Rendered) -> R + Send + 'static,
    ) -> Result<R> {
        let request = again(template, metadata, record)?;
        let then = move |request: &RenderRequest, outcome: RenderOutcome| {
            let rendered = match outcome.text {
                Some(text) if outcome.failures.is_empty() => Ok(text),
                _ => Err(outcome.failures),
            };
            Ok(then(request, rendered))
        };
        self.renderer().render_then(request, then).await
    }

    /// Previews a version: renders it for the newest object of each stack that was rendered from any version of the
    /// template. Instances with the same changed lines are grouped.
    pub async fn preview_changes(&self, actor: Actor, version: Uuid, page: &Page) -> Result<Changes> {
        let template = self.template(actor, version).await?;
        let stacks_of = actor.generator();
        let required = self.store().instantiation_rows(Uuid::nil(), version).await?.template_metadata;
        let (owner, name) = (template.generator_id, &template.name);
        let (mut checked, mut unchanged, mut bytes) = (0, 0, 0);
        let mut changes: IndexMap<String, Change> = IndexMap::new();
        let (mut after, mut left) = (page.after, page.limit.unwrap_or(u32::MAX));
        let next = loop {
            let rows = left.min(PREVIEW_ROWS);
            let page = Page { after, limit: Some(rows) };
            let instances = self.store().instances(owner, name, stacks_of, &page).await?;
            (after, left) = (instances.last().map(|last| last.object.id), left - rows);
            let full = instances.len() == rows as usize;
            for instance in instances {
                checked += 1;
                bytes += instance.object.yaml_content.len();
                match self.change(&template, &required, &instance).await? {
                    None => unchanged += 1,
                    Some((key, change)) => {
                        bytes += change.diff.len();
                        changes.entry(key).or_insert(change).instances.push(changed(&instance));
                    }
                }
            }
            if !full || left == 0 || bytes >= PREVIEW_BYTES {
                break after.filter(|_| full);
            }
        };
        let changes = changes.into_values().collect();
        Ok(Changes { template_id: version, instances: checked, unchanged, changes, next })
    }

    /// The change to one instance and its group key, or `None` if it stays the same.
    async fn change(
        &self,
        template: &TemplateVersion,
        required: &Metadata,
        instance: &Instance,
    ) -> Result<Option<(String, Change)>> {
        let (old, version) = (instance.object.yaml_content.clone(), instance.provenance.template_version);
        let metadata = (required.clone(), instance.stack_metadata.clone());
        let renderer = self.renderer().clone();
        let compare = move |request: &RenderRequest, rendered| {
            change((&old, version), rendered, request.template.version, &|| renderer.mask(request))
        };
        self.rerender(template.clone(), Some(metadata), instance.provenance.clone(), compare).await
    }
}

/// Returns `true` unless no word of the schema marks a secret. The charts in a chart have schemas of their own.
fn may_have_secrets(template: &TemplateVersion) -> bool {
    let marks = ["writeOnly", "x-secret", "password"];
    template.language != Language::Tera || marks.iter().any(|mark| template.parameters_schema.contains(mark))
}

/// The request that renders the parameters of a record with a template.
fn again(
    template: TemplateVersion,
    metadata: Option<(Metadata, Metadata)>,
    record: Provenance,
) -> Result<RenderRequest> {
    let broken = |_| CatalogError::new(ErrorKind::Internal, "internal_error", "the recorded parameters are not JSON");
    let parameters = RawValue::from_string(record.template_parameters).map_err(broken)?;
    let (template_metadata, stack_metadata) =
        metadata.map_or_else(Default::default, |(template, stack)| (template, Some(stack)));
    let request = RenderRequest::new(template, parameters);
    Ok(RenderRequest { template_metadata, stack_metadata, defaults: record.defaults, ..request })
}

/// The change from the text of one version to that of another, and its group key, or `None` if they are the same.
fn change(
    (old, before): (&str, i32),
    rendered: Rendered,
    after: i32,
    mask: &dyn Fn() -> Mask,
) -> Option<(String, Change)> {
    let (key, diff, errors) = match rendered {
        Ok(new) if new == old => return None,
        Ok(new) => {
            let (old, new) = without_secrets(&mask(), old, &new);
            let diff = unified_diff(&format!("version {before}"), &format!("version {after}"), &old, &new);
            (changed_lines(&diff), diff, Vec::new())
        }
        Err(errors) => {
            let key = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            (key, String::new(), errors)
        }
    };
    Some((key, Change { instances: Vec::new(), diff, errors }))
}

fn changed(instance: &Instance) -> Changed {
    Changed {
        deployment_object_id: instance.object.id,
        stack_id: instance.object.stack_id,
        template_version: instance.provenance.template_version,
    }
}

/// A record without the values of its secret parameters.
fn redacted(renderer: &Renderer, record: Provenance, template: &TemplateVersion) -> Provenance {
    let shown = match renderer.compiled_version(template) {
        Ok(compiled) => compiled.schema().redacted_text(&record.template_parameters),
        Err(_) => String::from("null"),
    };
    Provenance { template_parameters: shown, ..record }
}

/// Compares a stored text with the same object rendered again.
fn compared(
    renderer: &Renderer,
    stored: &str,
    rendered: Rendered,
    record: Provenance,
    request: &RenderRequest,
) -> Verification {
    let template = &request.template;
    let mut problems = mismatches(&record, template, stored);
    let (found, diff) = match rendered {
        Ok(text) => {
            let found = checksum(&text);
            if found != record.output_checksum {
                problems.push("the rendered text differs".to_owned());
            }
            let (stored, text) = match stored == text {
                true => ("".into(), "".into()),
                false => without_secrets(&renderer.mask(request), stored, &text),
            };
            (Some(found), unified_diff("stored", "rendered", &stored, &text))
        }
        Err(failures) => {
            problems.extend(failures.iter().map(|failure| format!("rendering failed: {failure}")));
            (None, String::new())
        }
    };
    Verification {
        deployment_object_id: record.deployment_object_id,
        verified: problems.is_empty(),
        provenance: redacted(renderer, record, template),
        found_checksum: found,
        problems,
        diff,
    }
}

/// The added and removed lines of a diff, without context.
fn changed_lines(diff: &str) -> String {
    let changes = diff.lines().skip(2).filter(|line| line.starts_with(['+', '-']));
    changes.flat_map(|line| [line, "\n"]).collect()
}

/// Differences between a record and the stored texts.
fn mismatches(record: &Provenance, template: &TemplateVersion, stored: &str) -> Vec<String> {
    let content = template.language.checksum(&template.template_content);
    let parts = [
        ("the template", content, &record.template_checksum),
        ("the schema", checksum(&template.parameters_schema), &record.schema_checksum),
        ("the parameters", checksum(&record.template_parameters), &record.parameters_checksum),
    ];
    let mut problems: Vec<String> = parts
        .into_iter()
        .filter(|(_, found, recorded)| found != *recorded)
        .map(|(what, ..)| format!("{what} differs from the record"))
        .collect();
    if checksum(stored) != record.output_checksum {
        problems.push("the stored text differs from the record".to_owned());
    }
    problems
}
