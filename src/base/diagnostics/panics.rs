//! Panics as errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Code, Diagnostic};

/// Runs work that may have a bug. State that a panic left half done must not be used again.
///
/// # Errors
/// The text of a panic.
///
/// ```
/// use dropforge::diagnostics::caught;
/// assert_eq!(caught(|| 5), Ok(5));
/// ```
pub fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| text_of(&*panic))
}

/// Returns the error of work that panicked. The text of the panic may have values of the user, so it is left out.
pub fn panicked(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Internal, format!("{what} panicked")).with_help("this is a bug in dropforge; report it")
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(caught(|| 5), Ok(5));
        assert_eq!(caught(|| -> u8 { std::panic::resume_unwind(Box::new("x".to_owned())) }), Err("x".to_owned()));
        assert_eq!(caught(|| -> u8 { std::panic::resume_unwind(Box::new(1)) }), Err("unknown".to_owned()));
        assert_eq!(panicked("rendering").code, Code::Internal);
    }
}
