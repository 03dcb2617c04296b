//! Compiles the templates. A template error is a build error with its file, line and column.

fn main() {
    dropforge::precompile("templates", "templates.mpk");
}
