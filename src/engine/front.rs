//! Languages of files, and options for compiling only.

use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::builder::Registries;
use super::cache::Cache;
use super::instance::language;
use super::loader::MemoryLoader;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::files;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::Dialect;
use dropforge_machine::compiler::{Loader, Memo, MissingKey, NoLoader};

/// The time at which an unknown filter, test, function, macro or template is an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownNames {
    /// Compiling fails, unless the name is [declared](super::EngineBuilder::declare).
    #[default]
    Early,
    /// Compiling lists it in [`Template::lints`](super::Template::lints). A render fails if it reaches the name.
    Late,
}

/// The result of a presence test on a value that has no fields and no elements: `has(x.a)`, `x.?a` and `x[?k]` where `x` is
/// null, a boolean, a number or a string, and its type is not known when the template is compiled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CelPresence {
    /// Nothing is found, as in Kubernetes: `has(x.a)` is false, `x.?a` and `x[?k]` are empty.
    #[default]
    Lenient,
    /// The test is an error.
    Strict,
}

/// The implementation of CEL whose functions and checks expressions are compiled with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CelDialect {
    /// The specification of CEL and its conformance suite, with all libraries.
    #[default]
    Spec,
    /// kro: its libraries, and the results of cel-go.
    Kro,
    /// The API server of Kubernetes: its libraries, the results of cel-go, and literals of one type.
    Kubernetes,
}

impl CelDialect {
    /// Returns the name of the implementation. Empty for the specification.
    pub const fn implementation(self) -> &'static str {
        match self {
            Self::Spec => "",
            Self::Kro => "kro",
            Self::Kubernetes => "kubernetes",
        }
    }
}

/// The filters and functions that Tera templates may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TeraDialect {
    /// Tera's own, and those beyond Tera that Kubernetes manifests need: `to_yaml`, `nindent`, `required` and others.
    #[default]
    Plus,
    /// Only Tera's own, so that the template also renders with Tera.
    Plain,
}

/// The rules of Go templates. The default is what Helm does.
#[derive(Debug, Clone, Default)]
pub struct HelmOptions {
    /// The value of a missing key.
    pub missing_key: MissingKey,
    /// `true` to offer only Go's own functions and those of the embedding program.
    pub plain: bool,
    /// `true` to keep the text `<no value>` in the output. Helm removes it.
    pub keeps_no_value: bool,
    /// The delimiters of actions, if they are others than `{{` and `}}`.
    pub delimiters: Option<[String; 2]>,
    /// `true` if the data of a template is the input `.`, which may be any value, rather than the map of all inputs.
    pub any_data: bool,
    /// Templates that share one name space with every template, in the order in which they are read. Templates of the
    /// engine's loader with the extension of the language come before them.
    pub together: Vec<Arc<Source>>,
}

/// Engine options for compiling only.
pub(super) struct Front {
    pub loader: Arc<dyn Loader>,
    /// Templates that take precedence over the loader's. They are put in front of it when the engine is built.
    pub templates: Vec<Arc<Source>>,
    pub escape_suffixes: Vec<String>,
    pub shell: bool,
    pub strict_let: bool,
    pub cel_presence: CelPresence,
    pub cel_dialect: CelDialect,
    pub tera: TeraDialect,
    /// By language, the functions of the implementation that its option names, and those of the embedding program.
    pub variants: Registries,
    pub unknown_names: UnknownNames,
    pub keeps_trees: bool,
    pub memo: Option<Memo>,
    pub helm: HelmOptions,
    /// The templates of one name space. Loaded on first use.
    pub together: OnceLock<Vec<Arc<Source>>>,
    pub cache: Option<Cache>,
}

impl Default for Front {
    fn default() -> Self {
        let escape_suffixes = [".html", ".htm", ".xml"].map(str::to_owned).into();
        Self {
            loader: Arc::new(NoLoader),
            templates: Vec::new(),
            escape_suffixes,
            shell: false,
            strict_let: false,
            cel_presence: CelPresence::default(),
            cel_dialect: CelDialect::default(),
            tera: TeraDialect::default(),
            variants: Registries::default(),
            unknown_names: UnknownNames::default(),
            keeps_trees: false,
            memo: None,
            helm: HelmOptions::default(),
            together: OnceLock::new(),
            cache: None,
        }
    }
}

impl Front {
    /// Puts the added templates in front of the loader.
    pub fn complete(mut self) -> Self {
        if !self.templates.is_empty() {
            let over = MemoryLoader::over(self.loader);
            self.loader = Arc::new(self.templates.drain(..).fold(over, MemoryLoader::with));
        }
        self
    }

    /// Returns the templates that share one name space with each entry of a language: those of the loader that have its
    /// extension, in byte order, then the added ones. A template that cannot be loaded is left out; as an entry, it is an
    /// error.
    pub fn together(&self, dialect: Dialect) -> &[Arc<Source>] {
        if dialect != Dialect::Helm {
            return &[];
        }
        self.together.get_or_init(|| {
            // The names for suggestions are those of a few files only.
            let mut names = self.loader.files("", dialect.extension());
            let is_hidden =
                |name: &str| name.split('/').any(|part| part.starts_with('.') && part != "." && part != "..");
            names.retain(|name| Dialect::of_name(name) == Some(dialect) && !is_hidden(name));
            names.sort_unstable();
            let loaded = names.iter().filter_map(|name| self.loader.load(name).ok().flatten());
            loaded.chain(self.helm.together.iter().cloned()).collect()
        })
    }

    /// Returns the implementation whose functions templates of a language may use. Empty for the usual one.
    pub fn variant(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Tera if self.tera == TeraDialect::Plain => "plain",
            Dialect::Helm if self.helm.plain => "plain",
            Dialect::Cel | Dialect::CelYaml => self.cel_dialect.implementation(),
            _ => "",
        }
    }

    /// Returns `true` if the output of this entry template is escaped: for HTML, or for a shell.
    pub fn escapes(&self, dialect: Dialect, name: &str) -> bool {
        if !language(dialect).is_ok_and(|language| language.escapes_by_name()) {
            return self.shell;
        }
        self.escape_suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }
}

/// Number of bytes of a file to look at for its language.
const HEAD: u64 = 1 << 16;

/// Returns the language that a file name implies: by its last extension or the one before (`app.yaml.tera`,
/// `app.tera.yaml`), ignoring case. An `.hcl` file is a configuration; an HCL template ends in `.tftpl` or has `hcl`
/// before its last extension (`app.hcl.tmpl`). `cel` before `.yaml` or `.yml` is YAML with CEL.
///
/// ```
/// use dropforge::engine::{Dialect, dialect_of};
/// assert_eq!(dialect_of("app.yaml.tera"), Some(Dialect::Tera));
/// assert_eq!(dialect_of("app.tower.sh"), Some(Dialect::Tower));
/// assert_eq!(dialect_of("app.yaml.tftpl"), Some(Dialect::Hcl));
/// assert_eq!(dialect_of("app.cel.yaml"), Some(Dialect::CelYaml));
/// assert_eq!(dialect_of("app.yaml.cel"), Some(Dialect::Cel));
/// assert_eq!(dialect_of("main.hcl"), None);
/// assert_eq!(dialect_of("app.yaml"), None);
/// ```
pub fn dialect_of(name: &str) -> Option<Dialect> {
    Dialect::of_name(name)
}

/// Returns the extension of each language.
pub fn language_extensions() -> [&'static str; Dialect::ALL.len()] {
    Dialect::ALL.map(Dialect::extension)
}

/// Returns the error for a file whose name implies no language.
pub fn unknown_language(name: &str) -> Box<Diagnostic> {
    unknown_language_of(name, "")
}

/// Returns the error for a file below `root` whose name implies no language. The help names the language that the beginning of
/// its text looks like.
pub fn unknown_language_in(root: &Path, name: &str) -> Box<Diagnostic> {
    let mut text = Vec::new();
    // The error of a file that cannot be read matters less.
    let _unreadable = files::open(&root.join(name)).and_then(|file| file.take(HEAD).read_to_end(&mut text));
    unknown_language_of(name, &String::from_utf8_lossy(&text))
}

/// Returns the error for a file whose name implies no language. The help names the language that its text looks like.
pub fn unknown_language_of(name: &str, text: &str) -> Box<Diagnostic> {
    let has = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    let dialect = match () {
        () if name.ends_with(".tmpl") || has(&["{{ .", "{{- ."]) => Dialect::Helm,
        () if has(&["${"]) && !has(&["{{", "{%"]) => Dialect::Hcl,
        () => Dialect::Tera,
    };
    let error = Diagnostic::new(Code::NoTemplates, format!("the extension of `{name}` does not name a language"))
        .with_available(language_extensions());
    if let Some(instead) = other_language(name) {
        return error.with_help(instead);
    }
    let foreign = [".j2", ".jinja", ".jinja2", ".tmpl"];
    let stem = foreign.iter().find_map(|extension| name.strip_suffix(extension)).unwrap_or(name);
    let (id, extension) = (dialect.id(), dialect.extension());
    error.with_help(format!("use `--lang {id}`, or name it `{stem}.{extension}`{}", escaping(name)))
}

/// Returns the reason why a template of another tool cannot be rendered, if its name tells.
///
/// ```
/// use dropforge::engine::other_language;
/// assert_eq!(other_language("app.cue"), Some("dropforge does not render its language"));
/// assert_eq!(other_language("app.yaml.j2"), None);
/// ```
pub fn other_language(name: &str) -> Option<&'static str> {
    let names = [".mustache", ".hbs", ".jsonnet", ".cue", ".ytt.yaml"];
    names.iter().any(|end| name.ends_with(end)).then_some("dropforge does not render its language")
}

/// Returns the words that promise a template called `name` the same escaping under its new name.
fn escaping(name: &str) -> &'static str {
    let is_markup = [".html", ".htm", ".xml"].iter().any(|suffix| name.ends_with(suffix));
    if is_markup { ", which the command escapes for HTML, too" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DirLoader, Engine};

    #[test]
    fn templates_of_a_name_space_are_found_among_many_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("parts")).unwrap();
        (0..1_500).for_each(|n| std::fs::write(dir.path().join(format!("{n}.json")), "{}").unwrap());
        let define = "{{ define \"part\" }}a{{ end }}";
        for (name, text) in [("all.gotmpl", "{{ template \"part\" }}"), ("parts/b.gotmpl", define), (".c.gotmpl", "{{")]
        {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let engine = Engine::builder().loader(DirLoader::jailed(dir.path()).unwrap()).build();
        assert!(engine.load(Dialect::Helm, "all.gotmpl").is_ok());
    }

    #[test]
    fn the_help_names_the_language_of_a_text() {
        for (name, text, help) in [
            ("a.yaml", "a: {{ x }}", "use `--lang tera`, or name it `a.yaml.tera`"),
            ("a.yaml.j2", "", "use `--lang tera`, or name it `a.yaml.tera`"),
            ("a.yaml", "a: ${x}", "use `--lang hcl`, or name it `a.yaml.tftpl`"),
            ("a.yaml", "a: {{- .Values.x }}", "use `--lang helm`, or name it `a.yaml.gotmpl`"),
            ("a.tmpl", "", "use `--lang helm`, or name it `a.gotmpl`"),
            ("a.cue", "a: \"{{ x }}\"", "dropforge does not render its language"),
        ] {
            assert_eq!(unknown_language_of(name, text).help.as_deref(), Some(help));
        }
    }
}
