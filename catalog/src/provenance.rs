//! What objects were rendered from: reading the record, rendering again, and what another version would change.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::render::Trial;
use super::store::{Instance, Marks, Page};
use super::{Actor, Catalog, Class, Provenance, Refusal, Result, TemplateVersion, checksum};
use dropforge::bulk::unified_diff;

/// What rendering an object again gave.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Verification {
    /// The object.
    pub deployment_object_id: Uuid,
    /// Whether the same bytes came out, from the same template, schema and parameters.
    pub verified: bool,
    /// The record.
    pub provenance: Provenance,
    /// SHA-256 of what came out this time.
    pub found_checksum: Option<String>,
    /// What does not agree with the record, in words.
    pub problems: Vec<String>,
    /// From what is stored to what came out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// Objects for which another version of their template changes the same lines.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Change {
    /// The objects, and their stacks.
    pub instances: Vec<Changed>,
    /// The whole diff of the first of them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// What is wrong with all of them under the other version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Refusal>,
}

/// An object that another version changes.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Changed {
    /// The object.
    pub deployment_object_id: Uuid,
    /// Its stack.
    pub stack_id: Uuid,
    /// The number of the version that it was rendered from.
    pub template_version: i32,
}

/// What a version would change, if all instances of its template were rendered with it.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Changes {
    /// The version.
    pub template_id: Uuid,
    /// How many instances were looked at.
    pub instances: usize,
    /// How many would stay as they are.
    pub unchanged: usize,
    /// The others.
    pub changes: Vec<Change>,
    /// The page's end: the id of the last instance, where there may be more.
    pub next: Option<Uuid>,
}

impl Catalog {
    /// What an object was rendered from, as it may be shown: secret parameters are hidden.
    pub async fn provenance(&self, who: Actor, object: Uuid) -> Result<Provenance> {
        self.object(who, object).await?;
        let record = self.record(object).await?;
        let template = self.store().template_ever(record.template_id).await.map_err(Refusal::of_store)?;
        Ok(self.shown(record, &template))
    }

    /// The record as it may be shown.
    fn shown(&self, record: Provenance, template: &TemplateVersion) -> Provenance {
        let shown = match self.renderer().compiled(&template.template_content, &template.parameters_schema) {
            Ok(compiled) => compiled.schema().redacted_text(&record.template_parameters),
            Err(_) => String::from("null"),
        };
        Provenance { template_parameters: shown, ..record }
    }

    /// The record of an object that the asker may see.
    async fn record(&self, object: Uuid) -> Result<Provenance> {
        let missing = Refusal::or_missing("provenance_not_found", "the object was not rendered from a template");
        self.store().provenance(object).await.map_err(missing)
    }

    /// Renders an object again from its record, and says whether the same bytes come out.
    pub async fn verify(&self, who: Actor, object: Uuid) -> Result<Verification> {
        let stored = self.object(who, object).await?.yaml_content;
        let record = self.record(object).await?;
        let template = self.store().template_ever(record.template_id).await.map_err(Refusal::of_store)?;
        let mut problems = disagreements(&record, &template, &stored);
        let (found, diff) = match self.again(&template, None, &record).await? {
            Ok(text) => {
                let found = checksum(&text);
                if found != record.output_checksum {
                    problems.push("the text that comes out is another one".to_owned());
                }
                (Some(found), unified_diff("stored", "rendered", &stored, &text))
            }
            Err(failures) => {
                problems.extend(failures.iter().map(|failure| format!("it does not render: {failure}")));
                (None, String::new())
            }
        };
        Ok(Verification {
            deployment_object_id: object,
            verified: problems.is_empty(),
            provenance: self.shown(record, &template),
            found_checksum: found,
            problems,
            diff,
        })
    }

    /// What a recorded object gives under this template.
    async fn again(
        &self,
        template: &TemplateVersion,
        marks: Option<(Marks, Marks)>,
        record: &Provenance,
    ) -> Result<Result<String, Vec<Refusal>>> {
        let broken = |_| Refusal::new(Class::Internal, "internal_error", "the recorded parameters are no JSON");
        let parameters = RawValue::from_string(record.template_parameters.clone()).map_err(broken)?;
        let (wanted, given) = marks.map_or_else(Default::default, |(wanted, given)| (wanted, Some(given)));
        let trial = Trial { template: template.clone(), wanted, given, parameters, defaults: record.defaults };
        let outcome = self.renderer().try_out(trial).await?;
        Ok(match outcome.text {
            Some(text) if outcome.failures.is_empty() => Ok(text),
            _ => Err(outcome.failures),
        })
    }

    /// What this version would change, if the newest object of each stack that was rendered from any version of its
    /// template were rendered with it. Instances with the same changed lines are told together.
    pub async fn what_would_change(&self, who: Actor, version: Uuid, page: &Page) -> Result<Changes> {
        let template = self.template(who, version).await?;
        let stacks_of = who.generator();
        let (owner, name) = (template.generator_id, &template.name);
        let instances = self.store().instances(owner, name, stacks_of, page).await.map_err(Refusal::of_store)?;
        let full = page.limit.is_some_and(|limit| instances.len() >= limit as usize);
        let next = instances.last().filter(|_| full).map(|last| last.object.id);
        let (looked_at, mut unchanged) = (instances.len(), 0);
        let mut groups: IndexMap<String, Change> = IndexMap::new();
        for instance in instances {
            let Some((key, change)) = self.change(&template, &instance).await? else {
                unchanged += 1;
                continue;
            };
            groups.entry(key).or_insert(change).instances.push(Changed {
                deployment_object_id: instance.object.id,
                stack_id: instance.object.stack_id,
                template_version: instance.provenance.template_version,
            });
        }
        let changes = groups.into_values().collect();
        Ok(Changes { template_id: version, instances: looked_at, unchanged, changes, next })
    }

    /// What the version changes of one instance, and what it is grouped by; nothing if nothing changes.
    async fn change(&self, template: &TemplateVersion, instance: &Instance) -> Result<Option<(String, Change)>> {
        let read = self.store().instantiable(instance.object.stack_id, template.id).await;
        let read = read.map_err(Refusal::of_store)?;
        let old = &instance.object.yaml_content;
        Ok(match self.again(template, Some((read.wanted, read.given)), &instance.provenance).await? {
            Ok(new) if new == *old => None,
            Ok(new) => {
                let before = format!("version {}", instance.provenance.template_version);
                let diff = unified_diff(&before, &format!("version {}", template.version), old, &new);
                Some((changed_lines(&diff), Change { instances: Vec::new(), diff, errors: Vec::new() }))
            }
            Err(errors) => {
                let key = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                Some((key, Change { instances: Vec::new(), diff: String::new(), errors }))
            }
        })
    }
}

/// The lines of a diff that go and come, without what stands around them.
fn changed_lines(diff: &str) -> String {
    let changes = diff.lines().skip(2).filter(|line| line.starts_with(['+', '-']));
    changes.flat_map(|line| [line, "\n"]).collect()
}

/// What of a record is no longer true.
fn disagreements(record: &Provenance, template: &TemplateVersion, stored: &str) -> Vec<String> {
    let parts = [
        ("the template", &template.template_content, &record.template_checksum),
        ("the schema", &template.parameters_schema, &record.schema_checksum),
        ("the parameters", &record.template_parameters, &record.parameters_checksum),
    ];
    let mut problems: Vec<String> = parts
        .into_iter()
        .filter(|(_, text, recorded)| checksum(text) != **recorded)
        .map(|(what, ..)| format!("{what} is not what was recorded"))
        .collect();
    if checksum(stored) != record.output_checksum {
        problems.push("the stored text is not what was recorded".to_owned());
    }
    problems
}
