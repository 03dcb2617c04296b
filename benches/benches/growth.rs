//! Cost by number of clusters, template size, input size, nesting and number of templates. Where it is linear, the cost
//! per unit is constant down the column.
//!
//! `cargo bench -p dropforge-benches --bench growth [-- --write]`. With `--write` the results go to `growth.md`.

use std::fmt::Write;
use std::path::Path;

use dropforge_benches::bulk::Bulk;
use dropforge_benches::clock::{process_time, thread_time};
use dropforge_benches::engines::{Engine, Ours, Templates};
use dropforge_benches::processes::memory;
use dropforge_benches::table::{duration, thousands};
use dropforge_benches::w7::Files;
use serde_json::{Value, json};

const CLUSTERS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];
const SIZES: [usize; 5] = [10, 100, 1_000, 10_000, 100_000];
const DEPTHS: [usize; 5] = [1, 4, 16, 32, 64];
const TEMPLATES: [usize; 4] = [1, 10, 100, 1_000];

/// Seconds to repeat a task for, and the maximum number of repetitions.
const ENOUGH: f64 = 0.2;
const REPEATS: usize = 200;

fn main() {
    let mut out = String::from("# How cost grows\n\nProcessor time, the smallest of some runs.\n");
    template_size(&mut out);
    input_size(&mut out);
    depth(&mut out);
    templates(&mut out);
    clusters(&mut out);
    println!("{out}");
    if std::env::args().any(|argument| argument == "--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("growth.md");
        std::fs::write(path, &out).expect("the lines can be written");
    }
}

fn title(out: &mut String, title: &str, columns: &[&str]) {
    let rule = "--:|".repeat(columns.len());
    let _ = write!(out, "\n## {title}\n\n| {} |\n|{rule}\n", columns.join(" | "));
}

fn line(out: &mut String, count: usize, cells: &[String]) {
    let _ = writeln!(out, "| {} | {} |", thousands(count as f64, 0), cells.join(" | "));
}

/// Formats two cells: the time of a task, and the time per unit of `count`.
fn cells(seconds: f64, count: usize) -> [String; 2] {
    [duration(seconds), duration(seconds / count as f64)]
}

/// Returns the minimum thread time of a task over several runs, in seconds.
fn least(mut task: impl FnMut()) -> f64 {
    let (mut best, start) = (f64::INFINITY, thread_time());
    for _ in 0..REPEATS {
        let before = thread_time();
        task();
        best = best.min(thread_time() - before);
        if thread_time() - start > ENOUGH {
            break;
        }
    }
    best
}

fn engine(text: String) -> Ours {
    several(vec![("main".to_owned(), text)], vec!["main".to_owned()])
}

fn several(files: Vec<(String, String)>, entries: Vec<String>) -> Ours {
    Ours::new(Templates { files, entries, shell: false })
}

/// Renders the first entry into a reused buffer.
fn render(engine: &mut Ours, inputs: &Value) -> f64 {
    let (inputs, mut text) = (engine.ready(inputs), String::new());
    least(|| {
        text.clear();
        engine.render(0, &inputs, &mut text);
    })
}

fn template_size(out: &mut String) {
    title(out, "Lines of a template", &["lines", "compile", "a line", "render", "a line"]);
    for lines in SIZES {
        let text = "- {{ a.b }} {{ n + 1 }}\n".repeat(lines);
        let (mut engine, inputs) = (engine(text), json!({"a": {"b": "eu-1"}, "n": 3}));
        let compile = least(|| engine.compile());
        line(out, lines, &[cells(compile, lines), cells(render(&mut engine, &inputs), lines)].concat());
    }
}

fn input_size(out: &mut String) {
    title(out, "Items of an input", &["items", "read", "an item", "render", "an item"]);
    for count in SIZES {
        let items: Vec<Value> = (0..count).map(|n| json!({"name": format!("item-{n}"), "port": n})).collect();
        let inputs = json!({ "items": items });
        let text = "{% for item in items %}{{ item.name }}: {{ item.port }}\n{% endfor %}";
        let mut engine = engine(text.to_owned());
        let text = inputs.to_string();
        let read = least(|| engine.read(&text));
        line(out, count, &[cells(read, count), cells(render(&mut engine, &inputs), count)].concat());
    }
}

fn depth(out: &mut String) {
    let columns = ["levels", "compile", "a level", "read", "a level", "render", "a level"];
    title(out, "Nested conditions around a path of as many keys", &columns);
    for levels in DEPTHS {
        let path = vec!["a"; levels].join(".");
        let text = format!("{}{{{{ {path} }}}}{}", "{% if a %}".repeat(levels), "{% endif %}".repeat(levels));
        let inputs = (0..levels).fold(json!(1), |value, _| json!({ "a": value }));
        let mut engine = engine(text);
        let compile = least(|| engine.compile());
        let text = inputs.to_string();
        let read = least(|| engine.read(&text));
        line(
            out,
            levels,
            &[cells(compile, levels), cells(read, levels), cells(render(&mut engine, &inputs), levels)].concat(),
        );
    }
}

fn templates(out: &mut String) {
    let columns = ["templates", "compile one by one", "a template", "render including all", "a template"];
    title(out, "Templates", &columns);
    for count in TEMPLATES {
        let names: Vec<String> = (0..count).map(|n| format!("t{n}")).collect();
        let main: String = names.iter().map(|name| format!("{{% include \"{name}\" %}}")).collect();
        let mut files: Vec<_> = names.iter().map(|name| (name.clone(), format!("{name}: {{{{ x }}}}\n"))).collect();
        let inputs = json!({"x": 1});
        let mut each = several(files.clone(), names);
        let compile = least(|| each.compile());
        files.push(("main".to_owned(), main));
        let mut all = several(files, vec!["main".to_owned()]);
        line(out, count, &[cells(compile, count), cells(render(&mut all, &inputs), count)].concat());
    }
}

fn clusters(out: &mut String) {
    let columns = ["clusters", "stream", "a cluster", "peak memory", "of it the fleet's text"];
    title(out, "Clusters × 5 templates, `dropforge::bulk` into a stream, 1 thread", &columns);
    for count in CLUSTERS {
        let files = Files::generate(count);
        let bulk = Bulk::new(files.folder());
        let times = (0..3).map(|_| {
            let start = process_time();
            bulk.stream(1, &mut std::io::sink());
            process_time() - start
        });
        let seconds = times.fold(f64::INFINITY, f64::min);
        let (peak, text) = memory(env!("CARGO_BIN_EXE_fleet"), files.folder(), 1);
        let memory = [peak, text].map(|bytes| format!("{} MB", thousands(bytes / 1e6, 1)));
        line(out, count, &[cells(seconds, count), memory].concat());
    }
}
