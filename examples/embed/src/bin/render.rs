//! Renders a text once, with a struct as its inputs.

use dropforge::{Dialect, Error, render};
use serde::Serialize;

#[derive(Serialize)]
struct Service<'s> {
    name: &'s str,
    replicas: u32,
}

fn main() -> Result<(), Error> {
    let service = Service { name: "api", replicas: 3 };
    println!("{}", render(Dialect::Tera, "{{ name }} has {{ replicas }} replicas", &service)?);
    Ok(())
}
