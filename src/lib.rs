//! Compile templates to bytecode once, render them thousands of times.
//!
//! ```
//! use dropforge::{Dialect, Engine};
//! use serde_json::json;
//!
//! let engine = Engine::new();
//! let template = engine.compile(Dialect::Tera, "svc.yaml", "name: {{ name }}-{{ env | upper }}\n")?;
//! assert_eq!(template.render(&json!({"name": "api", "env": "prod"}))?, "name: api-PROD\n");
//!
//! // An error names the place and the likely fix.
//! let error = template.render(&json!({"nmae": "api", "env": "prod"})).unwrap_err();
//! assert_eq!(error.to_string(), "E0201: the variable `name` is not defined (svc.yaml:1:10)");
//! assert!(error.render(false).contains("did you mean `nmae`?"));
//! # Ok::<(), dropforge::Error>(())
//! ```
//!
//! # Languages
//!
//! | [`Dialect`] | language | cargo feature |
//! |---|---|---|
//! | `Tera` | Tera 1 templates | `tera`; `tera-builtins` and `tera-plus` add the filters and functions that need other crates |
//! | `Helm` | Go templates with the functions of Helm, and charts | `helm` |
//! | `Hcl` | HCL templates and configurations | `hcl` |
//! | `Cel` | CEL expressions | `cel` |
//! | `CelYaml` | YAML with directives and `${CEL}` | `cel` |
//! | `Tower` | `${params.x}` substitution in tower-fleet intent files, literal or shell-quoted | `tower` |
//!
//! # Where to go on
//!
//! * [`Engine`] compiles templates and opens artifacts; [`Engine::builder`] sets limits, loaders and your own functions.
//! * [`context!`] writes inputs in place: `context! { name, port => 80 }`.
//! * [`Template`] renders: to a new string, into your buffer, or within a session that keeps its memory.
//! * [`Engine::from_dir`] compiles a directory, and again when a file changes.
//! * [`render`] is for text that is rendered only once.
//! * [`precompile`] compiles a directory in a build script, [`include_artifact!`] embeds the result. [`Engine::open`] opens the artifact without a parser
//!   (`default-features = false, features = ["tera"]`).
//! * `chart` renders Helm charts; `cel` and `hcl` have expressions and configurations.
//! * `bulk` (feature `bulk`) renders a set of templates for a fleet of clusters onto disk, in parallel.
//! * [`limits::Limits`] bounds every render: steps, memory, output and depth.
//! * [`Diagnostic`] is an error for people and for machines.

// The layers below are for the packages of this workspace. What is hidden from the documentation changes without notice.
#[doc(hidden)]
pub use dropforge_base::{credentials, mask, stdlib};
#[doc(hidden)]
pub use dropforge_engine as engine;
#[doc(hidden)]
pub use dropforge_machine::{bytecode, compiler, language, specialise, vm};
#[cfg(feature = "remote")]
#[doc(hidden)]
pub use dropforge_remote as remote;
#[doc(hidden)]
pub use dropforge_schema as schema;

#[doc(hidden)]
pub mod dialect {
    #[cfg(feature = "cel")]
    pub use dropforge_cel as cel;
    #[cfg(feature = "hcl")]
    pub use dropforge_hcl as hcl;
    #[cfg(feature = "helm")]
    pub use dropforge_helm as helm;
    #[cfg(feature = "tera")]
    pub use dropforge_tera as tera;
    #[cfg(feature = "tower")]
    pub use dropforge_tower as tower;
}

/// Parts of errors: codes, labels, severities.
pub mod diagnostics {
    #[doc(hidden)]
    pub use dropforge_base::diagnostics::*;
    pub use dropforge_base::diagnostics::{Code, Label, Result, Severity};
}

/// Source texts, and places in them.
pub mod text {
    #[doc(hidden)]
    pub use dropforge_base::text::*;
    pub use dropforge_base::text::{Position, Source, Span};
}

/// Files that programs may read.
pub mod files {
    pub use dropforge_base::files::Files;
    #[doc(hidden)]
    pub use dropforge_base::files::*;
}

/// Limits of a render, and ending it from another thread.
pub mod limits {
    #[doc(hidden)]
    pub use dropforge_base::limits::*;
    pub use dropforge_base::limits::{Deadline, Limits};
}

/// Functions of the embedding program: types of their parameters and results.
pub mod function {
    #[doc(hidden)]
    pub use dropforge_machine::function::*;
    pub use dropforge_machine::function::{
        ArgKey, Capabilities, Deserialized, Further, HostArgs, HostError, HostFunction, HostResult, Parameter, Registry,
    };
}

/// Values that programs work on, and values of files.
pub mod value {
    pub use dropforge_value::assign::Assignment;
    #[doc(hidden)]
    pub use dropforge_value::*;
    pub use dropforge_value::{Attribute, Data, DataMap, List, Map, OutputFormat, Text, Type};
}

/// Helm charts.
///
/// ```
/// use dropforge::Engine;
/// use dropforge::chart::{Capabilities, ChartSource, Release, UserValues};
/// let source = ChartSource::from_files([
///     ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
///     ("values.yaml", "port: 80\n"),
///     ("templates/service.yaml", "kind: Service\nport: {{ .Values.port }}\n"),
/// ])?;
/// let chart = Engine::new().chart(&source)?;
/// let mut values = UserValues::default();
/// values.set("port=8080")?;
/// let render = chart.render(&values, &Release::default(), &Capabilities::default())?;
/// assert_eq!(render.output()?.text(), "---\n# Source: web/templates/service.yaml\nkind: Service\nport: 8080\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "helm")]
pub mod chart {
    pub use dropforge_engine::chart::{ChartBundling, ChartRender, ChartTemplate};
    pub use dropforge_helm::chart::{
        Capabilities, ChartSource, HelmLine, HelmVersion, Hook, HookEvent, KubeVersion, Manifest, Output, Release,
        UserValues,
    };
}

/// CEL expressions.
#[cfg(all(feature = "cel", feature = "compile"))]
pub mod cel {
    pub use dropforge_cel::check::cost::{Hints, Range};
    pub use dropforge_cel::check::{Declared, Environment, Strictness};
    pub use dropforge_cel::{Declarations, Expression, Names, Partial, Pattern, Residual, Settings, UnknownAttribute};
}

/// HCL: expressions, and configurations as data, by a schema, or as text to edit.
#[cfg(all(feature = "hcl", feature = "compile"))]
pub mod hcl {
    pub use dropforge_hcl::{Expression, Variables, body, decode, edit, format, read_data};
    pub use dropforge_machine::vm::Evaluation;
}

/// Stamping fleets of clusters onto disk.
#[cfg(feature = "bulk")]
pub mod bulk {
    #[doc(hidden)]
    pub use dropforge_fleet::*;
    pub use dropforge_fleet::{
        Change, Cluster, CsvTypes, DEFAULT_LAYOUT, Failure, FilePreview, Fleet, FleetFile, FleetOptions, Format, Job,
        Layers, Layout, Merge, NameFrom, Options, Order, Output, Plan, Report, Selector, Skipped, Stamp, Stamper,
        TemplateFile, TemplateSet, Templates, Watch, dialect_of, discover, language_extensions, outputs, preview,
        stamp, stream,
    };
}

#[doc(inline)]
pub use diagnostics::{Diagnostic, Diagnostics as Error};
pub use dropforge_engine::{
    Artifact, Bundling, Cache, CelDialect, CelPresence, Dialect, DirLoader, Engine, EngineBuilder, HelmOptions, Loader,
    MemoryLoader, MissingKey, Origin, Precompile, Template, TemplateDir, TeraDialect, UnknownNames, precompile, render,
};
pub use dropforge_machine::bytecode::ImportKind;
pub use dropforge_machine::vm::{Session, Space};
pub use dropforge_value::{Arena, Inputs, Value};
#[doc(inline)]
pub use limits::Limits;

/// Inputs as names and values: any of them serializes, and a variable alone is an input of its name.
///
/// ```
/// use dropforge::{Dialect, Engine, context};
/// let template = Engine::new().compile(Dialect::Tera, "t", "{{ name }}:{{ ports[0] }}{{ more.a }}")?;
/// let name = String::from("api");
/// assert_eq!(template.render(&context! { name, ports => [80, 443], more => context! { a => 1 } })?, "api:801");
/// assert_eq!(name, "api");
/// # Ok::<(), dropforge::Error>(())
/// ```
#[macro_export]
macro_rules! context {
    ($($name:ident $(=> $value:expr)?),* $(,)?) => {
        $crate::context!(@add $crate::value::NoInputs; $($name $(=> $value)?,)*)
    };
    (@add $others:expr;) => { $others };
    (@add $others:expr; $name:ident => $value:expr, $($more:tt)*) => {
        $crate::context!(
            @add $crate::value::InputEntry { others: $others, name: stringify!($name), value: $value }; $($more)*
        )
    };
    (@add $others:expr; $name:ident, $($more:tt)*) => {
        $crate::context!(
            @add $crate::value::InputEntry { others: $others, name: stringify!($name), value: &$name }; $($more)*
        )
    };
}

/// Embeds the artifact that [`precompile`] wrote in the build script: `include_artifact!("templates")` is the content of
/// `$OUT_DIR/templates.mpk`.
///
/// ```ignore
/// static TEMPLATES: &[u8] = dropforge::include_artifact!("templates");
/// let artifact = dropforge::Engine::new().open(TEMPLATES)?;
/// ```
#[macro_export]
macro_rules! include_artifact {
    ($name:literal) => {{
        const ARTIFACT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".mpk"));
        ARTIFACT
    }};
}

/// The examples of the page about the library, compiled and run with the documentation's tests.
#[cfg(all(doctest, feature = "bulk"))]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
