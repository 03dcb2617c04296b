//! Operations on templates: versions, labels and annotations.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::objects::not_a_cursor;
use super::render::Prepared;
use super::review::{Finding, Review};
use super::server::MayBePacked;
use super::store::{
    Guard, IdempotencyToken, InitialMetadata, Metadata, NewVersion, Page, Requirement, StoreError, TemplateSearch,
    Usage, new_id,
};
use super::{Actor, Catalog, CatalogError, Content, Encoding, Language, Result, TemplateVersion, now, validation};

/// Declares a request with the content of a template. Its fields stand in the request itself: a flattened struct would be
/// read through a buffer, which keeps unknown keys of any size.
macro_rules! request_with_content {
    ($(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
        pub struct $name {
            $($own)*
            /// Template text, in Tera; or a packed Helm chart, in base64, of at most 4 MiB, and 5,000 files and 32 MiB unpacked.
            pub template_content: String,
            /// JSON Schema of the parameters, as text. A Helm chart without one has its own: `values.schema.json`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub parameters_schema: Option<String>,
            /// `helm` for a Helm chart. Default: `tera`, or for a new version that of the version before.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub language: Option<Language>,
            /// `base64` for a Helm chart.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub encoding: Option<Encoding>,
        }

        impl $name {
            /// Returns the content for the template of a name. Its language is `usual` if the request names none.
            fn content(&self, template: &str, usual: Language) -> Result<Content> {
                let language = self.language.unwrap_or(usual);
                language.check_name(template)?;
                let (text, schema) = (self.template_content.clone(), self.parameters_schema.clone());
                Content::new(language, self.encoding, text, schema)
            }
        }

        impl MayBePacked for $name {
            fn is_packed(&self) -> bool {
                self.encoding.is_some()
            }
        }
    };
}

request_with_content! {
    /// A request to create a template.
    TemplateInput {
        /// Name. If the owner already has a template with this name, its next version is created.
        pub name: String,
        /// Description.
        #[serde(default)]
        pub description: Option<String>,
        /// Initial labels. Default: those of the newest version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub labels: Option<Vec<String>>,
        /// Initial annotations, as key and value. Default: those of the newest version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub annotations: Option<Vec<(String, String)>>,
    }
}

request_with_content! {
    /// A request to create the next version of a template.
    TemplateChange {
        /// Description. Default: that of the updated version.
        #[serde(default)]
        pub description: Option<String>,
        /// `true` to start without labels and annotations instead of copying those of the updated version.
        #[serde(default)]
        pub drop_rules: bool,
    }
}

/// The owner of a template that is named in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The actor, or the system if the actor has no template of that name.
    Nearest,
    /// The system.
    System,
    /// A generator.
    Generator(Uuid),
}

/// A row that a request created.
#[derive(Debug, Clone)]
pub struct Created<T> {
    /// The template version or the object.
    pub row: T,
    /// Disagreements between the template and its schema, or warnings about the rendered text.
    pub warnings: Vec<Finding>,
    /// `true` if an earlier request with the same idempotency token created it.
    pub replayed: bool,
}

impl Catalog {
    /// Lists the live versions that the actor can read, optionally those of one name.
    pub async fn templates(&self, actor: Actor, name: Option<&str>, page: &Page) -> Result<Vec<TemplateVersion>> {
        Ok(self.store().templates(actor.visibility()?, name, page).await?)
    }

    /// Searches the live versions that the actor can read by name.
    pub async fn search_templates(
        &self,
        actor: Actor,
        search: &TemplateSearch,
        page: &Page,
    ) -> Result<Vec<TemplateVersion>> {
        Ok(self.store().search_templates(actor.visibility()?, search, page).await?)
    }

    /// Creates a template, or the next version if the actor already has one with this name.
    pub async fn create_template(
        &self,
        actor: Actor,
        new: &TemplateInput,
        strict: bool,
        token: Option<&IdempotencyToken>,
    ) -> Result<Created<TemplateVersion>> {
        let generator_id = actor.owner()?;
        validation::template_name(&new.name)?;
        let metadata = match (&new.labels, &new.annotations) {
            (None, None) => InitialMetadata::CopiedFrom(None),
            (labels, annotations) => given_metadata(labels.as_deref(), annotations.as_deref())?,
        };
        validation::template_description(new.description.as_deref())?;
        let content = new.content(&new.name, Language::default())?;
        let language = content.language;
        let (Prepared { schema, checksum, review }, content) = self.review(content, strict).await?;
        let version = NewVersion {
            id: new_id(),
            at: now(),
            generator_id,
            name: new.name.clone(),
            description: new.description.clone(),
            template_content: content.text,
            parameters_schema: schema,
            checksum,
            language,
            metadata,
        };
        let guard = Guard::once(token, version.id, version.at);
        self.add_version(version, review, guard).await
    }

    /// Creates the next version of a template. It starts with the labels and annotations of the updated version.
    /// `expected` is the ID of the version that must still be the newest.
    pub async fn update_template(
        &self,
        actor: Actor,
        id: Uuid,
        change: &TemplateChange,
        strict: bool,
        expected: Option<Uuid>,
        token: Option<&IdempotencyToken>,
    ) -> Result<Created<TemplateVersion>> {
        let before = self.live_template(id).await?;
        actor.require_change(&before, "modify")?;
        let description = change.description.clone().or(before.description);
        validation::template_description(description.as_deref())?;
        let content = change.content(&before.name, before.language)?;
        let language = content.language;
        let (Prepared { schema, checksum, review }, content) = self.review(content, strict).await?;
        let version = NewVersion {
            id: new_id(),
            at: now(),
            generator_id: before.generator_id,
            name: before.name,
            description,
            template_content: content.text,
            parameters_schema: schema,
            checksum,
            language,
            metadata: match change.drop_rules {
                true => InitialMetadata::Given(Metadata::default()),
                false => InitialMetadata::CopiedFrom(Some(id)),
            },
        };
        let guard = Guard::once(token, version.id, version.at).and(expected.map(Requirement::Newest));
        self.add_version(version, review, guard).await
    }

    async fn add_version(&self, version: NewVersion, review: Review, guard: Guard) -> Result<Created<TemplateVersion>> {
        let quota = (version.generator_id, Usage::of_version(&version));
        let added = self.add_within_quota(guard, quota, self.store().create_version(&version));
        let (row, replayed) = match added.await? {
            Ok(row) => (row, false),
            Err(StoreError::Replayed(id)) => (self.live_template(id).await?, true),
            Err(error) => return Err(error.into()),
        };
        Ok(Created { row, warnings: review.findings, replayed })
    }

    /// Checks a template against its schema without storing it. Returns the content, too.
    ///
    /// # Errors
    /// The template or the schema is invalid, or there are findings and `strict` is set.
    pub async fn review(&self, content: Content, strict: bool) -> Result<(Prepared, Content)> {
        let renderer = self.renderer().clone();
        let prepare = move |_: &mut _| renderer.prepared(&content).map(|prepared| (prepared, content));
        let (prepared, content) = self.renderer().run(prepare).await??;
        if strict && !prepared.review.findings.is_empty() {
            let details = serde_json::json!({ "findings": prepared.review.findings });
            let message = "the template does not match its schema";
            return Err(CatalogError::invalid("template_review_failed", message).with_details(details));
        }
        Ok((prepared, content))
    }

    /// Returns a live version.
    pub async fn template(&self, actor: Actor, id: Uuid) -> Result<TemplateVersion> {
        let template = self.live_template(id).await?;
        actor.require_read(&template)?;
        Ok(template)
    }

    /// Returns the newest live version of a name.
    pub async fn newest(&self, actor: Actor, owner: Owner, name: &str) -> Result<TemplateVersion> {
        let own = match owner {
            Owner::System => None,
            Owner::Generator(id) => Some(id),
            Owner::Nearest => actor.generator(),
        };
        // Templates that the actor cannot read look absent, so that names do not leak.
        let hidden = || template_not_found()(StoreError::NotFound);
        if !actor.reads_all() && (actor.generator().is_none() || own.is_some_and(|own| actor.generator() != Some(own)))
        {
            return Err(hidden());
        }
        match self.store().newest(own, name).await {
            Err(StoreError::NotFound) if owner == Owner::Nearest && own.is_some() => {
                self.store().newest(None, name).await.map_err(template_not_found())
            }
            found => found.map_err(template_not_found()),
        }
    }

    /// Lists the live versions of the template that `id` is a version of.
    pub async fn history(&self, actor: Actor, id: Uuid, page: &Page) -> Result<Vec<TemplateVersion>> {
        let template = self.template(actor, id).await?;
        let owner = template.generator_id;
        if let Some(last) = page.after {
            let last = self.store().template_including_deleted(last).await.map_err(not_a_cursor)?;
            let same = last.generator_id == owner && last.name == template.name;
            same.then_some(()).ok_or_else(CatalogError::bad_cursor)?;
        }
        Ok(self.store().versions(owner, &template.name, page).await?)
    }

    /// Deletes one version.
    pub async fn delete_template(&self, actor: Actor, id: Uuid) -> Result<()> {
        let template = self.live_template(id).await?;
        actor.require_change(&template, "delete")?;
        self.store().delete_template(id, now()).await.map_err(template_not_found())?;
        self.recount(template.generator_id);
        Ok(())
    }

    pub(super) async fn live_template(&self, id: Uuid) -> Result<TemplateVersion> {
        self.store().template(id).await.map_err(template_not_found())
    }
}

pub(super) fn template_not_found() -> impl Fn(StoreError) -> CatalogError {
    CatalogError::or_not_found("template_not_found", "template not found")
}

fn given_metadata(labels: Option<&[String]>, annotations: Option<&[(String, String)]>) -> Result<InitialMetadata> {
    let (labels, annotations) = (labels.unwrap_or_default(), annotations.unwrap_or_default());
    labels.iter().try_for_each(|label| validation::label(label))?;
    annotations.iter().try_for_each(|(key, value)| validation::annotation(key, value))?;
    Ok(InitialMetadata::Given(Metadata { labels: labels.to_vec(), annotations: annotations.to_vec() }))
}
