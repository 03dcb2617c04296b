//! Runs the case files of a folder. A file holds cases of one topic:
//!
//! ```text
//! === what the case shows
//! --- context                    (JSON; optional)
//! --- template [NAME]            (the first one is rendered; NAME decides on escaping)
//! --- output | --- error CODE LINE:COLUMN | --- errors | --- listing | --- cost
//! ```
//! A section's text ends before its last newline. The lines under `--- error` must occur in the printed error. Under
//! `--- errors` are all errors as printed. A case may have a listing next to its output. In `cel`, a case may also have
//! a cost: the expression is then type-checked, with the names of its context declared with any type, and metered.
//! `CASES=tera/loops.cases cargo test --test suite cases` runs one file, `CASES='tera/loops.cases: break'` the cases in
//! it whose names begin with `break`, and `CASES=tera` a folder.
//!
//! `UPDATE=1 cargo test --test suite` rewrites outputs, listings, errors and error headings with the actual results.
//! Read the difference before you commit it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dropforge::diagnostics::Diagnostics;
use dropforge::engine::{Dialect, Engine, Template, UnknownNames};
use dropforge::limits::Limits;

/// A section of a case: its heading after `--- ` and its text.
pub struct Section {
    pub heading: String,
    pub text: String,
}

pub struct Case {
    pub name: String,
    pub sections: Vec<Section>,
}

impl Case {
    pub fn section(&self, kind: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.heading.split(' ').next() == Some(kind))
    }

    pub fn templates(&self) -> impl Iterator<Item = (&str, &str)> {
        let templates = self.sections.iter().filter(|section| section.heading.starts_with("template"));
        templates.map(|section| (section.heading.split(' ').nth(1).unwrap_or("t"), section.text.as_str()))
    }
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            cases.push(Case { name: name.to_owned(), sections: Vec::new() });
        } else if let (Some(heading), Some(case)) = (line.strip_prefix("--- "), cases.last_mut()) {
            case.sections.push(Section { heading: heading.to_owned(), text: String::new() });
        } else if let Some(section) = cases.last_mut().and_then(|case| case.sections.last_mut()) {
            section.text.push_str(line);
            section.text.push('\n');
        }
    }
    for section in cases.iter_mut().flat_map(|case| &mut case.sections) {
        section.text.pop();
    }
    cases
}

pub fn print(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        let _ = writeln!(text, "=== {}", case.name);
        for section in &case.sections {
            let _ = writeln!(text, "--- {}\n{}", section.heading, section.text);
        }
    }
    text
}

/// Compiles the template of a case.
pub fn compile(dialect: Dialect, case: &Case) -> Result<Template, Diagnostics> {
    compile_within(Limits::default(), dialect, case)
}

/// Compiles the template of a case with other limits.
pub fn compile_within(limits: Limits, dialect: Dialect, case: &Case) -> Result<Template, Diagnostics> {
    let builder = Engine::builder().unknown_names(UnknownNames::Late).limits(limits);
    let engine = case.templates().fold(builder, |builder, (name, text)| builder.template(name, text)).build();
    let (entry, _) = case.templates().next().expect("a case has a template");
    engine.load(dialect, entry)
}

/// Returns the inputs of a case.
pub fn context(case: &Case) -> serde_json::Value {
    let context = case.section("context").map_or("{}", |section| section.text.as_str());
    serde_json::from_str(context).expect("the context is JSON")
}

/// The output of a case, its listing, and its cost if requested.
pub struct Rendered {
    pub output: String,
    pub listing: String,
    pub cost: Option<u64>,
}

pub type Render<'r> = dyn Fn(&Case) -> Result<Rendered, Diagnostics> + 'r;

pub fn render(dialect: Dialect, case: &Case) -> Result<Rendered, Diagnostics> {
    let template = compile(dialect, case)?;
    Ok(Rendered { output: template.render(&context(case))?, listing: template.disassemble(), cost: None })
}

/// Runs a case. Returns every mismatch, and updates the case with the actual results.
fn run(case: &mut Case, render: &Render<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    if case.section("errors").is_some() {
        let errors = render(case).err().map_or(Vec::new(), Diagnostics::into_vec);
        let printed: String = errors.iter().map(|error| error.render(false)).collect();
        compare(case, "errors", printed.trim_end(), &mut wrong);
        return wrong;
    }
    match (render(case), case.section("error").is_some()) {
        (Ok(rendered), false) => {
            compare(case, "output", &rendered.output, &mut wrong);
            compare(case, "listing", rendered.listing.trim_end(), &mut wrong);
            let cost = rendered.cost.map_or("not metered".to_owned(), |cost| cost.to_string());
            compare(case, "cost", &cost, &mut wrong);
        }
        (Ok(rendered), true) => wrong.push(format!("it renders: {:?}", rendered.output)),
        (Err(errors), false) => wrong.push(format!("it fails: {errors}")),
        (Err(errors), true) => check_error(case, &errors, &mut wrong),
    }
    wrong
}

fn compare(case: &mut Case, kind: &str, got: &str, wrong: &mut Vec<String>) {
    let Some(section) = case.sections.iter_mut().find(|section| section.heading == kind) else { return };
    if section.text != got {
        wrong.push(format!("{kind}: want {:?}, got {got:?}", section.text));
        got.clone_into(&mut section.text);
    }
}

fn check_error(case: &mut Case, errors: &Diagnostics, wrong: &mut Vec<String>) {
    let Some(section) = case.sections.iter_mut().find(|section| section.heading.starts_with("error")) else { return };
    let first = errors.first().expect("an error has a diagnostic");
    let place = first.position().map_or("nowhere".to_owned(), |place| place.to_string());
    let got = format!("error {} {place}", first.code.id());
    if got != section.heading {
        wrong.push(format!("want {}, got {got}: {errors}", section.heading));
        section.heading = got;
    }
    if section.text.is_empty() {
        wrong.push(format!("the case does not ask what the error says: {}", first.message));
        section.text.clone_from(&first.message);
    }
    let printed: String = errors.iter().map(|error| error.render(false)).collect();
    for line in section.text.lines().filter(|line| !printed.contains(*line)) {
        wrong.push(format!("the error does not say {line:?}:\n{printed}"));
    }
}

/// Returns the case files of `spec-tests/FOLDER`, in order, with their cases.
pub fn read_folder(folder: &str) -> Vec<(PathBuf, Vec<Case>)> {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("spec-tests").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&dir).expect("the folder").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cases"));
    files.sort();
    let read = |path: PathBuf| {
        let cases = parse(&std::fs::read_to_string(&path).expect("a case file"));
        (path, cases)
    };
    files.into_iter().map(read).collect()
}

/// Runs every case file of `spec-tests/FOLDER`.
pub fn run_folder(dialect: Dialect, folder: &str) {
    run_cases(folder, &|case| render(dialect, case));
}

/// Runs every case file of `spec-tests/FOLDER` through `render`.
pub fn run_cases(folder: &str, render: &Render<'_>) {
    run_each(folder, &|case| run(case, render));
}

/// Runs the cases of `spec-tests/FOLDER` selected by `$CASES`, or all of them if it is not set. `run` returns the
/// mismatches of a case and updates it.
pub fn run_each(folder: &str, run: &dyn Fn(&mut Case) -> Vec<String>) {
    let filter = std::env::var("CASES").unwrap_or_default();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, mut cases) in read_folder(folder) {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for case in &mut cases {
            let id = format!("{folder}/{file}: {}", case.name);
            if id.starts_with(&filter) {
                count += 1;
                wrong.extend(run(case).into_iter().map(|why| format!("{id}: {why}")));
            }
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, print(&cases)).expect("the case file can be written");
        }
    }
    assert!(count > 0 || !filter.is_empty(), "no case in {folder}");
    println!("{count} cases of {folder}");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn tera() {
    run_folder(Dialect::Tera, "tera");
}

#[test]
fn hcl() {
    run_folder(Dialect::Hcl, "hcl");
}

#[test]
fn helm() {
    run_folder(Dialect::Helm, "helm");
}
