//! Selectors of maps whose keys may have dots in them, such as labels.

use super::{Selector, Term};
use dropforge_base::diagnostics::Result;
use dropforge_value::Data;

impl Selector {
    /// Parses conditions on keys that may have dots in them, such as labels.
    ///
    /// # Errors
    /// Same as [`Selector::parse`].
    pub fn parse_keys(text: &str) -> Result<Self> {
        let mut selector = Self::parse(text)?;
        let key = |term: &Term| {
            let text = term.text.trim_start_matches('!');
            let end = text.find(|c: char| c.is_whitespace() || "=!".contains(c)).unwrap_or(text.len());
            text.get(..end).unwrap_or("").to_owned()
        };
        selector.terms.iter_mut().for_each(|term| term.path = key(term));
        Ok(selector)
    }

    /// Returns `true` if the values that `get` finds are selected.
    #[doc(hidden)]
    pub fn matches_by(&self, get: &dyn Fn(&str) -> Option<Data>) -> bool {
        self.terms.iter().all(|term| term.matches(get(&term.path).as_ref()))
    }
}
