//! The indentation that `<<-` removes from the lines of a heredoc.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::Span;

/// The bytes to remove from the start of each part, by the part's index. A part that is not literal text is `None`;
/// texts end with every line. The smallest indentation of all lines is removed, in grapheme clusters. A line that begins
/// with a sequence has none. Blank lines neither count nor lose any.
pub(super) fn indents<'t>(parts: impl Iterator<Item = Option<&'t str>>) -> Vec<(usize, u32)> {
    let (mut lines, mut least, mut begins) = (Vec::new(), usize::MAX, true);
    for (at, part) in parts.enumerate() {
        if begins {
            match part {
                None => least = 0,
                Some(text) => {
                    let blanks = text.get(..text.len() - text.trim_start().len()).unwrap_or("");
                    if !(blanks == text && text.ends_with('\n')) {
                        least = least.min(blanks.graphemes(true).count());
                        lines.push((at, blanks));
                    }
                }
            }
        }
        begins = part.is_some_and(|text| text.ends_with('\n'));
    }
    let indent = |blanks: &str| blanks.graphemes(true).take(least).map(str::len).sum();
    lines.into_iter().map(|(at, blanks)| (at, Span::of(0..indent(blanks)).end)).collect()
}
