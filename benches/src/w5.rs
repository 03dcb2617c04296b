//! W5: the two standard benchmarks of template engines, with HTML escaping.

use std::hint::black_box;

use askama::Template;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engines::{Engine, Minijinja, Ours, Templates, Tera1, Tera2};
use crate::subject::{Bar::AtMost, Subject, Workload};
use crate::tasks::Render;

const SIZE: i64 = 100;

const TABLE: &str = "<table>
{% for row in table %}
<tr>{% for column in row %}<td>{{ column }}</td>{% endfor %}</tr>
{% endfor %}
</table>";

const TEAMS: &str = r#"<html>
  <head>
    <title>{{ year }}</title>
  </head>
  <body>
    <h1>CSL {{ year }}</h1>
    <ul>
    {% for team in teams %}
      <li class="{% if loop.first %}champion{% endif %}">
      <b>{{ team.name }}</b>: {{ team.score }}
      </li>
    {% endfor %}
    </ul>
  </body>
</html>"#;

#[derive(Template)]
#[template(
    ext = "html",
    source = "<table>
{% for row in table %}
<tr>{% for column in row %}<td>{{ column }}</td>{% endfor %}</tr>
{% endfor %}
</table>"
)]
struct BigTable {
    table: Vec<Vec<i64>>,
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<html>
  <head>
    <title>{{ year }}</title>
  </head>
  <body>
    <h1>CSL {{ year }}</h1>
    <ul>
    {% for team in teams %}
      <li class="{% if loop.first %}champion{% endif %}">
      <b>{{ team.name }}</b>: {{ team.score }}
      </li>
    {% endfor %}
    </ul>
  </body>
</html>"#
)]
struct Teams {
    year: i64,
    teams: Vec<Team>,
}

#[derive(Serialize)]
struct Team {
    name: String,
    score: i64,
}

/// 100 × 100 integers in a table.
pub fn big_table() -> Workload {
    let table: Vec<Vec<i64>> = vec![(0..SIZE).collect(); SIZE as usize];
    let inputs = json!({ "table": table });
    workload("w5-big-table", "W5: big-table", TABLE, &inputs, BigTable { table }, 1.2)
}

/// A small page with a loop.
pub fn teams() -> Workload {
    let teams = [("Jiangsu", 43), ("Beijing", 27), ("Guangzhou", 22), ("Shandong", 12)];
    let teams: Vec<Team> = teams.map(|(name, score)| Team { name: name.to_owned(), score }).into();
    let inputs = json!({ "year": 2015, "teams": teams });
    workload("w5-teams", "W5: teams", TEAMS, &inputs, Teams { year: 2015, teams }, 2.0)
}

fn workload<T: Template + 'static>(
    id: &'static str,
    title: &'static str,
    text: &str,
    inputs: &Value,
    askama: T,
    bar: f64,
) -> Workload {
    let expected = askama.render().expect("it renders");
    let subjects = vec![
        subject::<Ours>(text, inputs),
        subject::<Minijinja>(text, inputs),
        subject::<Tera2>(text, inputs),
        subject::<Tera1>(text, inputs),
        Box::new(Askama { template: askama, out: String::new() }),
    ];
    Workload { id, title, expected, subjects, bars: vec![("askama", AtMost(bar))] }
}

fn subject<E: Engine>(text: &str, inputs: &Value) -> Box<dyn Subject> {
    // The name turns on escaping.
    let name = "page.html".to_owned();
    let templates = Templates { files: vec![(name.clone(), text.to_owned())], entries: vec![name], shell: false };
    Box::new(Render::<E>::new(templates, inputs, 1, ""))
}

struct Askama<T> {
    template: T,
    out: String,
}

impl<T: Template> Subject for Askama<T> {
    fn engine(&self) -> &'static str {
        "askama"
    }

    fn run(&mut self) {
        self.out.clear();
        black_box(&self.template).render_into(&mut self.out).expect("it renders");
        black_box(&self.out);
    }

    fn output(&mut self) -> String {
        self.run();
        self.out.clone()
    }
}
