//! Prints a service's manifests: `precompiled NAME PORT [ENVIRONMENT]`.

use std::error::Error;

use dropforge::Engine;
use serde_json::json;

/// The artifact, embedded in the binary. Its text is borrowed from here, not copied.
static TEMPLATES: &[u8] = dropforge::include_artifact!("templates");

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, port, rest @ ..] = args.as_slice() else {
        return Err("usage: precompiled NAME PORT [ENVIRONMENT]".into());
    };
    let mut inputs = json!({"name": name, "port": port.parse::<u16>()?});
    if let [environment, ..] = rest {
        inputs["environment"] = json!(environment);
    }
    let artifact = Engine::new().open(TEMPLATES)?;
    for template in ["deployment.yaml.tera", "service.yaml.tera"] {
        match artifact.template(template)?.render(&inputs) {
            Ok(text) => print!("---\n{text}"),
            Err(error) => return Err(error.render(false).into()),
        }
    }
    Ok(())
}
