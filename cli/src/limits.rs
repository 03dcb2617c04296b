//! Help of errors about limits: the option that raises the limit, in place of the field of the library.

use dropforge::diagnostics::Diagnostic;

/// A field of `Limits` and the option that sets it.
pub(crate) type LimitOption = (&'static str, &'static str);

/// Names the options in the help of an error and its further errors.
pub(crate) fn name_options(options: &[LimitOption], diagnostic: &mut Diagnostic) {
    if let Some(help) = &mut diagnostic.help {
        for (field, option) in options {
            *help = help.replace(&format!("`Limits::{field}`"), &format!("the limit with `{option}`"));
        }
    }
    diagnostic.also.iter_mut().for_each(|other| name_options(options, other));
}
