//! Shows an error to a person, and what a program can read from it.

use dropforge::{Dialect, Engine, Error, context};

fn main() -> Result<(), Error> {
    let template = Engine::new().compile(Dialect::Tera, "svc.yaml", "name: {{ name }}\nport: {{ prot }}\n")?;
    if let Err(error) = template.render(&context! { name => "api", port => 80 }) {
        print!("{}", error.render(false));
        println!("{} at {:?}: {:?}", error.code(), error.span(), error.help);
    }
    Ok(())
}
