//! White-space control. `{%-` trims the text directly before the tag and `-%}` the text directly after it, up to the
//! next tag or comment. Markers have no effect in the body after the `else` of a loop.

use super::token::{Spanned, Token, push};

/// The sides of a tag that carry the `-`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trim {
    /// `{%-`
    pub left: bool,
    /// `-%}`
    pub right: bool,
}

/// The state of white-space control in one body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body {
    /// Index of the text token that the next tag touches.
    touched: Option<usize>,
    /// `true` if the previous tag has a marker on its right.
    trim_next: bool,
    /// `true` if markers have an effect.
    trims: bool,
}

impl Body {
    /// The state at the start of a template.
    pub const START: Self = Self { touched: None, trim_next: false, trims: true };

    /// The state after the `else` of a loop.
    pub(crate) const UNTRIMMED: Self = Self { trims: false, ..Self::START };

    /// Returns the state after the tag that begins a body inside this one.
    pub fn inner(&self, trim_next: bool) -> Self {
        Self { touched: None, trim_next, trims: self.trims }
    }

    /// Adds the text between two tags.
    pub fn text<'s>(&mut self, text: &'s str, start: usize, tokens: &mut Vec<Spanned<'s>>) {
        let trim = std::mem::take(&mut self.trim_next) && self.trims;
        let text = if trim { text.trim_start() } else { text };
        self.touched = (!text.is_empty()).then_some(tokens.len());
        push(tokens, start..start + text.len(), Token::Text(text));
    }

    /// Adds the text of a raw block. Tags outside it do not trim it.
    pub fn raw<'s>(&mut self, inner: Trim, mut text: &'s str, start: usize, tokens: &mut Vec<Spanned<'s>>) {
        if self.trims {
            text = if inner.left { text.trim_start() } else { text };
            text = if inner.right { text.trim_end() } else { text };
        }
        push(tokens, start..start + text.len(), Token::Text(text));
    }

    /// Trims the text before a tag.
    pub(crate) fn begin_tag(&mut self, left: bool, tokens: &mut [Spanned<'_>]) {
        let touched = self.touched.take().filter(|_| left && self.trims);
        if let Some((_, Token::Text(text), _)) = touched.and_then(|at| tokens.get_mut(at)) {
            *text = text.trim_end();
        }
    }

    /// Stores the right marker of a tag for the text after it.
    pub(crate) fn end_tag(&mut self, right: bool) {
        self.trim_next = right;
    }

    /// Passes `{{ super() }}`. Its own markers have no effect, and a marker before it applies to the text after it.
    pub(crate) fn super_tag(&mut self) {
        self.touched = None;
    }
}
