//! Adds a filter and a function of the program.

use dropforge::{Dialect, Engine, Error, context};

fn port(service: &str) -> Result<u16, String> {
    match service {
        "http" => Ok(80),
        "https" => Ok(443),
        _ => Err(format!("`{service}` has no port")),
    }
}

fn main() -> Result<(), Error> {
    let engine = Engine::builder()
        .filter(Dialect::Tera, "shout", |text: String| text + "!")
        .function(Dialect::Tera, "port(service)", port)
        .build();
    let template = engine.compile(Dialect::Tera, "greeting", "{{ name | shout }} {{ port(service='https') }}")?;
    println!("{}", template.render(&context! { name => "hello" })?);
    Ok(())
}
