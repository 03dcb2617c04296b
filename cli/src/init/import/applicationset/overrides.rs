//! What changes the template of an ApplicationSet: the template of a generator, and `templatePatch`.

use dropforge::bulk::{ObjectPatch, WrittenObject};
use dropforge::text::Source;
use dropforge::value::{Data, yaml};

use super::template::Filler;
use crate::init::import::notes::Notes;
use crate::init::import::yaml::Yaml;

/// Returns the template with that of a generator over it.
pub(super) fn of_generator(template: &Yaml, generator: &Yaml, notes: &mut Notes) -> Yaml {
    let own = generator.entries("generators", notes).into_iter().find_map(|(_, _, value)| {
        value.node.as_map()?;
        value.get("template")
    });
    match own {
        Some(own) => template.with_data(&filled(own.data(), &template.data())),
        None => template.clone(),
    }
}

/// Returns a value with the parts of another that it lacks. As with Argo CD, empty ones are lacking.
fn filled(own: Data, base: &Data) -> Data {
    match (own.try_into_map(), base) {
        (Ok(mut own), Data::Map(base)) => {
            for (key, value) in base {
                let known = own.shift_remove(key).unwrap_or_default();
                own.insert(key.clone(), filled(known, value));
            }
            Data::Map(own)
        }
        (Ok(own), base) if own.is_empty() => base.clone(),
        (Ok(own), _) => Data::Map(own),
        (Err(own), base) if is_empty(&own) => base.clone(),
        (Err(own), _) => own,
    }
}

fn is_empty(value: &Data) -> bool {
    match value {
        Data::Null | Data::Bool(false) | Data::Int(0) => true,
        Data::Str(text) => text.is_empty(),
        Data::List(items) => items.is_empty(),
        _ => false,
    }
}

/// Returns a template with `templatePatch`, once both are filled. A patch that does not fit is noted.
pub(super) fn patched(template: &Yaml, patch: &Yaml, filler: &mut Filler<'_>, notes: &mut Notes) -> Yaml {
    let data = template.data();
    let filled = filler.data(template, &data, notes);
    let text = filler.text(patch, &patch.node.text, notes);
    match merged(&filled, text) {
        Ok(new) => {
            let name = |data: &Data| data.at_path("metadata.name").cloned();
            if name(&filled) != name(&new) {
                let help = "change the name in the template";
                notes.left_out(Some(patch.place()), "`metadata.name` of `templatePatch` is not translated", help);
            }
            filler.is_done = true;
            template.with_data(&new)
        }
        Err(why) => {
            let message = format!("`templatePatch` is left out: {why}");
            notes.left_out(Some(patch.place()), message, "write what it changes to the releases by hand");
            template.clone()
        }
    }
}

/// # Errors
/// The reason why the text is no patch.
fn merged(template: &Data, text: String) -> Result<Data, String> {
    let source = Source::new("templatePatch", text);
    let first = |errors: &[Box<dropforge::diagnostics::Diagnostic>]| {
        errors.first().map_or_else(String::new, |error| error.message.clone())
    };
    let documents = Yaml::documents(&source, None).map_err(|errors| first(&errors))?;
    let Some(patch) = documents.first().filter(|patch| patch.data() != Data::Null) else { return Ok(template.clone()) };
    if patch.node.as_map().is_none() {
        return Err(format!("it must be a map, found {}", patch.node.kind_name()));
    }
    let written = WrittenObject::of_node(&patch.node, &patch.data());
    let patch = ObjectPatch::new(&source, &written).map_err(|errors| first(&errors.into_vec()))?;
    let patched = patch.apply(&WrittenObject::of_data(template)).map_err(|error| error.message.clone())?;
    patched.map(|patched| patched.to_data()).ok_or_else(|| "it removes the application".to_owned())
}

impl Yaml {
    /// Returns a document with another value. Its lines stand where the same lines of this one do.
    fn with_data(&self, data: &Data) -> Self {
        let (written, _) = self.place();
        let text = Source::new(written.name(), yaml::to_string(data));
        let read = Self::documents(&text, Some(&written)).ok().and_then(|mut all| all.drain(..).next());
        read.unwrap_or_else(|| self.clone())
    }
}
