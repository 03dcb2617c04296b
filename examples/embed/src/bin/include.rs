//! Compiles the templates of a directory, which include each other.

use dropforge::{Engine, Error, context};

fn main() -> Result<(), Error> {
    let templates = Engine::from_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates"))?;
    let service = templates.template("service.yaml.tera")?;
    print!("{}", service.render(&context! { name => "api", ports => [80, 443] })?);
    Ok(())
}
