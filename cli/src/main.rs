//! The `dropforge` command; all of it is in [`dropforge_cli`].

fn main() -> std::process::ExitCode {
    dropforge_cli::main()
}
