//! Renders templates that the build script has compiled.

use dropforge::{Engine, Error, context};

static TEMPLATES: &[u8] = dropforge::include_artifact!("templates");

fn main() -> Result<(), Error> {
    let templates = Engine::new().open(TEMPLATES)?;
    let service = templates.template("service.yaml.tera")?;
    print!("{}", service.render(&context! { name => "web", ports => [8080] })?);
    Ok(())
}
