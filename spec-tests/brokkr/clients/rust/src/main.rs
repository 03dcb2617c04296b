//! Drives the catalog with Brokkr's Rust client: `brokkr-client-check BASE ADMIN_KEY`. Every response is parsed into
//! the types generated from Brokkr's description. A different shape is an error.

use std::error::Error;
use std::fmt::Debug;
use std::future::Future;

use brokkr_client::types::{
    AddAnnotationRequest, CreateDeploymentObjectRequest, CreateTemplateRequest, DeploymentObject, Generator,
    NewGenerator, NewStack, NewStackAnnotation, Stack, StackTemplate, TemplateInstantiationRequest,
    UpdateTemplateRequest,
};
use brokkr_client::{ApplyOutcome, BrokkrClient, BrokkrError, Client};
use serde_json::{Value, json};
use uuid::Uuid;

type Done = Result<(), Box<dyn Error>>;

const CONTENT: &str = "kind: ConfigMap\nname: {{ name }}\ncount: {{ count }}\n";
const SCHEMA: &str = r#"{"type": "object", "required": ["name", "count"], "properties": {"name": {"type": "string", "minLength": 1}, "count": {"type": "integer", "maximum": 20}}}"#;

/// A catalog and a client with an administrator key.
struct Driver {
    base: String,
    admin: BrokkrClient,
    run: String,
}

/// Checks that an operation fails with this status and code, and returns the details.
async fn refused<T: Debug, E: Into<BrokkrError>>(
    asked: impl Future<Output = Result<T, E>>,
    status: u16,
    code: &str,
) -> Result<Value, Box<dyn Error>> {
    match asked.await.map_err(Into::into) {
        Err(BrokkrError::Api(refusal, found)) if found == status && refusal.code == code => Ok(json!(refusal.details)),
        other => Err(format!("not {status} {code}: {other:?}").into()),
    }
}

/// A response with a status that Brokkr's description does not have.
async fn undescribed<T: Debug, E: Into<BrokkrError>>(asked: impl Future<Output = Result<T, E>>, status: u16) -> Done {
    match asked.await.map_err(Into::into) {
        Err(error @ BrokkrError::UnexpectedResponse { .. }) if error.status().is_some_and(|found| found == status) => {
            Ok(())
        }
        other => Err(format!("not {status}: {other:?}").into()),
    }
}

/// Fails with both values if they differ.
fn same<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> Done {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found:?} instead of {wanted:?}").into()) }
}

impl Driver {
    fn client(&self, key: &str) -> Result<BrokkrClient, BrokkrError> {
        BrokkrClient::builder(&*self.base).token(key).max_retries(0).build()
    }

    fn api(&self) -> &Client {
        self.admin.api()
    }

    fn named(&self, name: &str) -> String {
        format!("{name}-{}", self.run)
    }

    async fn generator(&self, name: &str) -> Result<(Generator, BrokkrClient, String), Box<dyn Error>> {
        let body = NewGenerator { name: self.named(name), description: None };
        let made = self.api().create_generator().body(body).send().await?.into_inner();
        let client = self.client(&made.pak)?;
        Ok((made.generator, client, made.pak))
    }

    async fn template(
        &self,
        client: &BrokkrClient,
        name: &str,
        content: &str,
        schema: &str,
    ) -> Result<StackTemplate, BrokkrError> {
        let body = CreateTemplateRequest {
            name: self.named(name),
            description: None,
            template_content: content.to_owned(),
            parameters_schema: schema.to_owned(),
        };
        Ok(client.api().create_template().body(body).send().await?.into_inner())
    }

    async fn stack(&self, client: &BrokkrClient, name: &str, owner: Uuid) -> Result<Stack, BrokkrError> {
        let body = NewStack { name: self.named(name), description: None, generator_id: owner };
        Ok(client.api().create_stack().body(body).send().await?.into_inner())
    }

    async fn instantiate(
        &self,
        client: &BrokkrClient,
        stack: Uuid,
        template_id: Uuid,
        parameters: Value,
    ) -> Result<DeploymentObject, BrokkrError> {
        let body = TemplateInstantiationRequest { template_id, parameters };
        Ok(client.api().instantiate_template().stack_id(stack).body(body).send().await?.into_inner())
    }

    /// Generators, keys, and the holder of a key.
    async fn generators(&self) -> Done {
        let (made, its, key) = self.generator("first").await?;
        let who = self.api().verify_pak().send().await?.into_inner();
        same("the administrator", (who.admin, who.readonly, who.generator), (true, false, None))?;
        let who = its.api().verify_pak().send().await?.into_inner();
        same("the generator", (who.admin, who.generator), (false, Some(made.id.to_string())))?;
        let again = || NewGenerator { name: made.name.clone(), description: None };
        refused(self.api().create_generator().body(again()).send(), 409, "unique_violation").await?;
        refused(its.api().create_generator().body(again()).send(), 403, "admin_required").await?;
        let listed = self.api().list_generators().send().await?.into_inner();
        same("is listed", listed.iter().any(|row| row.id == made.id), true)?;
        let changed = Generator { description: Some("changed".to_owned()), ..made.clone() };
        let found = self.api().update_generator().id(made.id).body(changed).send().await?.into_inner();
        same("the description", found.description.as_deref(), Some("changed"))?;
        let rotated = its.api().rotate_generator_pak().id(made.id).send().await?.into_inner();
        same("a new key", rotated.pak == key, false)?;
        // An unknown key gets status 401 and no body.
        let gone = its.api().list_templates().send().await.map_err(BrokkrError::from);
        same("the old key", gone.err().and_then(|error| error.status()).map(|status| status.as_u16()), Some(401))?;
        let its = self.client(&rotated.pak)?;
        same("the name", its.api().get_generator().id(made.id).send().await?.into_inner().name, made.name)?;
        self.api().delete_generator().id(made.id).send().await?;
        refused(self.api().get_generator().id(made.id).send(), 404, "generator_not_found").await.map(drop)
    }

    /// Template versions, their errors, and their deletion.
    async fn versions(&self) -> Done {
        let first = self.template(&self.admin, "app", CONTENT, SCHEMA).await?;
        same("the first", (first.version, first.generator_id, first.deleted_at), (1, None, None))?;
        let body = |content: &str, schema: &str| UpdateTemplateRequest {
            template_content: content.to_owned(),
            parameters_schema: schema.to_owned(),
            description: Some("second".to_owned()),
        };
        let second = self.api().update_template().id(first.id).body(body("x", SCHEMA)).send().await?.into_inner();
        same("the second", (second.version, second.name == first.name, second.id == first.id), (2, true, false))?;
        let wrong = [
            ("{{ name", SCHEMA, "invalid_template_syntax"),
            ("x", "no JSON", "invalid_parameters_schema"),
            ("x", r#"{"type": "nope"}"#, "invalid_parameters_schema"),
        ];
        for (content, schema, code) in wrong {
            refused(self.template(&self.admin, "wrong", content, schema), 400, code).await?;
            let asked = self.api().update_template().id(first.id).body(body(content, schema)).send();
            refused(asked, 400, code).await?;
        }
        let listed = self.api().list_templates().send().await?.into_inner();
        same("both are listed", listed.iter().filter(|row| row.name == first.name).count(), 2)?;
        let found = self.api().get_template().id(first.id).send().await?.into_inner();
        same(
            "the first is as it was",
            (found.template_content, found.checksum),
            (first.template_content, first.checksum),
        )?;
        self.api().delete_template().id(second.id).send().await?;
        refused(self.api().get_template().id(second.id).send(), 404, "template_not_found").await.map(drop)
    }

    /// Labels and annotations of templates and stacks.
    async fn marks(&self) -> Done {
        let (owner, _, _) = self.generator("marks").await?;
        let template = self.template(&self.admin, "marked", CONTENT, SCHEMA).await?.id;
        let stack = self.stack(&self.admin, "marked", owner.id).await?.id;
        let label = self.api().templates_add_label().id(template).body("env=prod").send().await?.into_inner();
        same("the label", (label.template_id, &*label.label), (template, "env=prod"))?;
        undescribed(self.api().templates_add_label().id(template).body("env=prod").send(), 409).await?;
        refused(self.api().templates_add_label().id(template).body("a b").send(), 400, "invalid_label").await?;
        let listed = self.api().templates_list_labels().id(template).send().await?.into_inner();
        same("the labels", listed.len(), 1)?;
        self.api().templates_remove_label().id(template).label("env=prod").send().await?;
        let gone = self.api().templates_remove_label().id(template).label("env=prod").send();
        refused(gone, 404, "template_label_not_found").await?;
        let pair = AddAnnotationRequest { key: "region".to_owned(), value: "eu".to_owned() };
        let annotation = self.api().templates_add_annotation().id(template).body(pair).send().await?.into_inner();
        same("the annotation", (&*annotation.key, &*annotation.value), ("region", "eu"))?;
        let listed = self.api().templates_list_annotations().id(template).send().await?.into_inner();
        same("the annotations", listed.len(), 1)?;
        self.api().templates_remove_annotation().id(template).key("region").send().await?;
        let gone = self.api().templates_remove_annotation().id(template).key("region").send();
        refused(gone, 404, "template_annotation_not_found").await?;
        self.marks_of_stacks(stack).await
    }

    async fn marks_of_stacks(&self, stack: Uuid) -> Done {
        self.api().stacks_add_label().id(stack).body("team/a").send().await?;
        same("the labels", self.api().stacks_list_labels().id(stack).send().await?.into_inner().len(), 1)?;
        self.api().stacks_remove_label().id(stack).label("team/a").send().await?;
        let gone = self.api().stacks_remove_label().id(stack).label("team/a").send();
        refused(gone, 404, "stack_label_not_found").await?;
        let pair = |stack_id| NewStackAnnotation { stack_id, key: "region".to_owned(), value: "eu".to_owned() };
        let kept = self.api().stacks_add_annotation().id(stack).body(pair(stack)).send().await?.into_inner();
        same("the annotation", (kept.stack_id, &*kept.value), (stack, "eu"))?;
        refused(self.api().stacks_add_annotation().id(stack).body(pair(stack)).send(), 409, "unique_violation").await?;
        let elsewhere = self.api().stacks_add_annotation().id(stack).body(pair(Uuid::nil())).send();
        refused(elsewhere, 400, "stack_id_mismatch").await?;
        same("the annotations", self.api().stacks_list_annotations().id(stack).send().await?.into_inner().len(), 1)?;
        self.api().stacks_remove_annotation().id(stack).key("region").send().await?;
        let gone = self.api().stacks_remove_annotation().id(stack).key("region").send();
        refused(gone, 404, "stack_annotation_not_found").await.map(drop)
    }

    /// Objects from templates, and all errors of rendering.
    async fn objects(&self) -> Done {
        let (mine, me, _) = self.generator("owner").await?;
        let (its, it, _) = self.generator("stranger").await?;
        let template = self.template(&self.admin, "restricted", CONTENT, SCHEMA).await?.id;
        let own = self.template(&me, "own", CONTENT, SCHEMA).await?;
        same("its owner", own.generator_id, Some(mine.id))?;
        let (stack, foreign) =
            (self.stack(&me, "target", mine.id).await?.id, self.stack(&it, "foreign", its.id).await?.id);
        self.api().templates_add_label().id(template).body("env=prod").send().await?;
        let good = json!({"name": "web", "count": 3});
        let details =
            refused(self.instantiate(&me, stack, template, json!({})), 422, "template_stack_mismatch").await?;
        same("what is missing", &details["missing_labels"], &json!(["env=prod"]))?;
        same("what else is wrong", &details["also"][0]["code"], &json!("invalid_parameters"))?;
        self.api().stacks_add_label().id(stack).body("env=prod").send().await?;
        let bad = json!({"name": "", "count": 100});
        let details = refused(self.instantiate(&me, stack, template, bad), 400, "invalid_parameters").await?;
        let wanted =
            json!(["/count: 100 is greater than the maximum of 20", "/name: \"\" is shorter than 1 character"]);
        same("the violations", &details["validation_errors"], &wanted)?;
        let made = self.instantiate(&me, stack, template, good.clone()).await?;
        same("the text", &*made.yaml_content, "kind: ConfigMap\nname: web\ncount: 3\n")?;
        let undefined = self.template(&self.admin, "undefined", "a: {{ not_given }}", "{}").await?.id;
        refused(self.instantiate(&me, stack, undefined, json!({})), 400, "template_render_failed").await?;
        let blank = self.template(&self.admin, "blank", "{% if false %}a{% endif %}", "{}").await?.id;
        refused(self.instantiate(&me, stack, blank, json!({})), 400, "invalid_deployment_object").await?;
        refused(self.instantiate(&it, stack, template, good.clone()), 403, "stack_not_owned").await?;
        refused(self.instantiate(&it, foreign, own.id, good.clone()), 403, "template_not_accessible").await?;
        refused(self.instantiate(&me, Uuid::nil(), template, good.clone()), 404, "stack_not_found").await?;
        refused(self.instantiate(&me, stack, Uuid::nil(), good), 404, "template_not_found").await?;
        let found = me.api().get_deployment_object().id(made.id).send().await?.into_inner();
        same("the object", (found.yaml_checksum, found.sequence_id), (made.yaml_checksum, made.sequence_id))?;
        refused(it.api().get_deployment_object().id(made.id).send(), 403, "generator_not_associated").await?;
        same("the objects", me.api().list_deployment_objects().id(stack).send().await?.into_inner().len(), 1)
    }

    /// Stacks, and objects submitted as text.
    async fn stacks(&self) -> Done {
        let (owner, me, _) = self.generator("stacks").await?;
        let stack = self.stack(&me, "plain", owner.id).await?;
        let again = NewStack { name: stack.name.clone(), description: None, generator_id: owner.id };
        undescribed(me.api().create_stack().body(again).send(), 409).await?;
        let changed = Stack { description: Some("changed".to_owned()), ..stack.clone() };
        let found = me.api().update_stack().id(stack.id).body(changed.clone()).send().await?.into_inner();
        same("the description", found.description.as_deref(), Some("changed"))?;
        let second = self.stack(&me, "second", owner.id).await?;
        refused(me.api().update_stack().id(second.id).body(changed).send(), 400, "stack_id_mismatch").await?;
        let body =
            |yaml: &str| CreateDeploymentObjectRequest { yaml_content: yaml.to_owned(), is_deletion_marker: None };
        let made = me.api().create_deployment_object().id(stack.id).body(body("a: 1\n")).send().await?.into_inner();
        same("the text", (&*made.yaml_content, made.is_deletion_marker), ("a: 1\n", false))?;
        let wrong = me.api().create_deployment_object().id(stack.id).body(body("a: [")).send();
        refused(wrong, 400, "invalid_deployment_object").await?;
        same("the stacks", me.api().list_stacks().send().await?.into_inner().len(), 2)?;
        me.api().delete_stack().id(stack.id).send().await?;
        refused(me.api().get_stack().id(stack.id).send(), 404, "stack_not_found").await.map(drop)
    }

    /// The hand-written part of the client applies each manifest once.
    async fn wrapper(&self) -> Done {
        let (_, me, _) = self.generator("wrapper").await?;
        let file = std::env::temp_dir().join(self.named("manifest.yaml"));
        std::fs::write(&file, "apiVersion: v1\nkind: ConfigMap\n")?;
        let name = self.named("applied");
        let first = me.apply(&name, &file, &["env=prod".to_owned()]).await;
        let second = me.apply(&name, &file, &["env=prod".to_owned()]).await;
        std::fs::remove_file(&file)?;
        match (first?, second?) {
            (ApplyOutcome::Created(_), ApplyOutcome::Unchanged) => Ok(()),
            other => Err(format!("applied twice: {other:?}").into()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let mut arguments = std::env::args().skip(1);
    let (Some(base), Some(key)) = (arguments.next(), arguments.next()) else {
        return Err("usage: brokkr-client-check BASE ADMIN_KEY".into());
    };
    let admin = BrokkrClient::builder(&*base).token(key).build()?;
    let driver = Driver { base, admin, run: format!("rust-{}", std::process::id()) };
    driver.generators().await.map_err(|error| format!("generators: {error}"))?;
    driver.versions().await.map_err(|error| format!("versions: {error}"))?;
    driver.marks().await.map_err(|error| format!("marks: {error}"))?;
    driver.objects().await.map_err(|error| format!("objects: {error}"))?;
    driver.stacks().await.map_err(|error| format!("stacks: {error}"))?;
    driver.wrapper().await.map_err(|error| format!("wrapper: {error}"))?;
    println!("passed");
    Ok(())
}
