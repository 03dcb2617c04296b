//! W8: process start to one manifest. `cold TEMPLATES NAME INPUTS` takes a folder or an artifact, a template name and a
//! JSON file.

use std::io::Write;
use std::path::Path;

use dropforge::engine::{Dialect, DirLoader, Engine, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [templates, name, inputs] = arguments.as_slice() else { return Err("cold TEMPLATES NAME INPUTS".into()) };
    let template = template(templates.as_ref(), name)?;
    let json = std::fs::read_to_string(inputs)?;
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).json(&json)?);
    let mut out = String::new();
    template.render_inputs(&mut Session::new(), inputs, &mut out)?;
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(())
}

fn template(templates: &Path, name: &str) -> Result<Template> {
    if templates.is_dir() {
        let engine = Engine::builder().loader(DirLoader::jailed(templates)?).build();
        return Ok(engine.load(Dialect::Tera, name)?);
    }
    Ok(Engine::new().open(std::fs::read(templates)?)?.template(name)?)
}
