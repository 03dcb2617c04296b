//! Compiles the templates. An error in one is an error of the build, with its place.

fn main() {
    dropforge::precompile("templates", "templates.mpk");
}
