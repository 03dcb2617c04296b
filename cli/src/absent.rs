//! Commands in a build without their features: each says how to install a build that has it.

/// Defines the module of commands that are not in the build.
macro_rules! absent {
    ($module:ident { $($args:ident, $run:ident;)+ }, $feature:literal, $lacks:literal) => {
        #[cfg(not(feature = $feature))]
        mod $module {
            use std::borrow::Borrow;
            use std::ffi::OsString;

            use clap::Args;
            use dropforge::diagnostics::{Code, Diagnostic};

            use crate::stderr::Stderr;
            use crate::exit::{Exit, Failed};
            use crate::input::InputFiles;

            $(
                #[derive(Debug, Args)]
                #[command(disable_help_flag = true, about = concat!("Not in this build: needs the feature `", $feature, "`"))]
                pub(crate) struct $args {
                    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
                    args: Vec<OsString>,
                }

                /// Fails with the command that installs the feature.
                pub(crate) fn $run(_: impl Borrow<$args>, _: &mut InputFiles, _: &Stderr) -> Result<Exit, Failed> {
                    let command = concat!("cargo install --locked --path cli --profile dist --features ", $feature);
                    let error = Diagnostic::new(Code::Usage, concat!("this build of dropforge has no ", $lacks));
                    Err(error.with_help(format!("install one with `{command}`")).into())
                }
            )+
        }
    };
}
