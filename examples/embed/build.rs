//! Compiles the templates for `embedded.rs`.

fn main() {
    dropforge::precompile("templates", "templates.mpk");
}
