//! The `dropforge` command; all of it is in [`dropforge::cli`].

fn main() -> std::process::ExitCode {
    dropforge::cli::main()
}
