//! Reading the patches of a release in a project file.

use std::path::Path;
use std::sync::Arc;

use dropforge::bulk::{
    FileUse, LayerGroups, LayerList, LayerPath, Patch, PatchContent, PatchForm, PatchTarget, Patches,
    patch_without_target, values::Step,
};
use dropforge::diagnostics::{Diagnostic, Diagnostics, nearest};
use dropforge::text::{Source, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::read::{error, wrong_type};

/// The keys of a patch.
const KEYS: [&str; 3] = ["json", "merge", "target"];

/// A patch as a project file defines it.
#[derive(Debug)]
pub(crate) struct PatchDefinition {
    target: Vec<(String, String, Span)>,
    has_target: bool,
    form: PatchForm,
    content: Content,
    span: Span,
}

#[derive(Debug)]
enum Content {
    Inline(Vec<Step>),
    Text(Arc<Source>),
    /// The path in a list of its own.
    File(Vec<LayerPath>),
}

type Errors = Vec<Box<Diagnostic>>;

/// Reads the value of `patches`. `above` is the path of the release in the file, and paths of files are relative to `dir`.
pub(super) fn read(
    source: &Arc<Source>,
    (dir, above): (&Path, &[Step]),
    value: &Spanned<DeValue<'_>>,
    errors: &mut Errors,
) -> Vec<PatchDefinition> {
    let DeValue::Array(items) = value.get_ref() else {
        let error = error(source, Span::of(value.span()), "`patches` must be a list of tables");
        errors.push(error.with_help("write `patches = [{ target = { kind = …, name = … }, merge = … }]`"));
        return Vec::new();
    };
    let mut found = Vec::new();
    for (nth, item) in items.iter().enumerate() {
        let span = Span::of(item.span());
        let DeValue::Table(keys) = item.get_ref() else {
            errors.push(error(source, span, "a patch must be a table"));
            continue;
        };
        let above = [above, &[Step::Key("patches".to_owned()), Step::Index(nth)]].concat();
        found.extend(Reader { source, dir, above, errors }.patch(keys, span));
    }
    found
}

struct Reader<'r> {
    source: &'r Arc<Source>,
    dir: &'r Path,
    above: Vec<Step>,
    errors: &'r mut Errors,
}

impl Reader<'_> {
    fn patch(&mut self, keys: &DeTable<'_>, span: Span) -> Option<PatchDefinition> {
        let before = self.errors.len();
        for (key, _) in keys.iter().filter(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
            let name = key.get_ref();
            let error = error(self.source, Span::of(key.span()), format!("unknown key `{name}` of a patch"));
            let error = match nearest(name, KEYS) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            };
            self.errors.push(error.with_available(KEYS));
        }
        let target = keys.get("target").map(|value| self.target(value)).unwrap_or_default();
        let (form, name) = match (keys.get("merge"), keys.get("json")) {
            (Some(_), None) => (PatchForm::Merge, "merge"),
            (None, Some(_)) => (PatchForm::Operations, "json"),
            _ => {
                let error = error(self.source, span, "a patch has either `merge` or `json`");
                self.errors.push(error.with_help("write `merge = \"FILE\"`, or `json = [{ op = …, path = … }]`"));
                return None;
            }
        };
        let content = self.content(name, keys.get(name)?)?;
        let has_target = keys.contains_key("target");
        if form == PatchForm::Operations && !has_target {
            self.errors.push(patch_without_target(self.source, span));
        }
        (self.errors.len() == before).then_some(PatchDefinition { target, has_target, form, content, span })
    }

    fn content(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Content> {
        let span = Span::of(value.span());
        let DeValue::String(text) = value.get_ref() else {
            return Some(Content::Inline([&self.above[..], &[Step::Key(name.to_owned())]].concat()));
        };
        if text.contains('\n') {
            let line = self.source.position(span.start).line;
            // The first line of a text may be that of its quotes.
            let is_below = self.source.slice(span).trim_start_matches(['"', '\'']).starts_with(['\n', '\r']);
            let before = if is_below { line } else { line.saturating_sub(1) };
            return Some(Content::Text(Source::part(self.source.name().to_owned(), before, text.to_string())));
        }
        match LayerPath::parse(&self.dir.join(text.as_ref()).to_string_lossy()) {
            Ok(path) => Some(Content::File(vec![path.at(self.source, span)])),
            Err(error) => {
                self.errors.push(error.at(self.source, span, ""));
                None
            }
        }
    }

    /// Reads the conditions of a target.
    fn target(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<(String, String, Span)> {
        let DeValue::Table(keys) = value.get_ref() else {
            let error = error(self.source, Span::of(value.span()), "`target` must be a table");
            self.errors.push(error.with_help("write `target = { kind = \"Deployment\", name = \"web-*\" }`"));
            return Vec::new();
        };
        let mut found = Vec::new();
        for (key, value) in keys {
            let (name, span) = (key.get_ref().to_string(), Span::of(value.span()));
            match value.get_ref() {
                DeValue::String(text) => found.push((name, text.to_string(), span)),
                // Labels may be written like those of a release.
                DeValue::Table(pairs) if ["labels", "annotations"].contains(&&*name) => {
                    for (label, value) in pairs {
                        match value.get_ref() {
                            DeValue::String(text) => {
                                found.push((
                                    name.clone(),
                                    format!("{}={text}", label.get_ref()),
                                    Span::of(value.span()),
                                ));
                            }
                            _ => self.not_text(label.get_ref(), value),
                        }
                    }
                }
                _ => self.not_text(&name, value),
            }
        }
        // The errors of all conditions are told at once.
        let mut target = PatchTarget::default();
        for (key, text, span) in &found {
            if let Err(error) = target.add(key, text) {
                self.errors.push(error.at(self.source, *span, ""));
            }
        }
        found
    }

    fn not_text(&mut self, name: &str, value: &Spanned<DeValue<'_>>) {
        self.errors.push(wrong_type(self.source, (name, "a string"), value));
    }
}

impl PatchDefinition {
    /// Returns the file, as a list.
    pub(super) fn file(&self) -> Option<LayerList<'_>> {
        match &self.content {
            Content::File(path) => Some((FileUse::Patch, path)),
            _ => None,
        }
    }
}

/// Reads patches. `files` are those of patches in files, in order.
///
/// # Errors
/// All errors of their texts.
pub(super) fn patches(
    definitions: &[PatchDefinition],
    source: &Arc<Source>,
    files: &mut dyn Iterator<Item = LayerGroups>,
) -> Result<Patches, Diagnostics> {
    let mut all = Vec::new();
    for one in definitions {
        let mut target = PatchTarget::default();
        one.target.iter().try_for_each(|(key, text, _)| target.add(key, text))?;
        let content = match &one.content {
            Content::Inline(path) => PatchContent::Inline(source.clone(), path.clone()),
            Content::Text(text) => PatchContent::Text(text.clone()),
            Content::File(_) => PatchContent::File(files.next().unwrap_or_default()),
        };
        let (target, place) = (one.has_target.then_some(target), (source.clone(), one.span));
        all.push(Patch { target, form: one.form, content, place });
    }
    Patches::new(all)
}
