//! Long work of bodies that is paid for: it looks at the clock between its parts.

use std::cmp::Ordering;

use super::context::Cx;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::small_sort::sort_asking;

/// Items between two looks at the clock.
const ITEMS: usize = 1 << 10;

/// Bytes between two looks at the clock, if the text can be cut there.
const BYTES: usize = 1 << 15;

/// Returns `true` if a text can be cut between two bytes.
pub type Cut = fn(u8, u8) -> bool;

/// Cuts between characters.
pub const ANY: Cut = |_, after| !matches!(after, 0x80..0xc0);

/// Cuts before ASCII, where normal forms end.
pub const ASCII: Cut = |_, after| after.is_ascii();

/// Cuts where neither letter case, nor normal forms, nor clusters depend on the other side. The characters from U+0080 to
/// U+02FF join none before them.
pub const PLAIN: Cut = |before, after| is_plain(before) && (is_plain(after) || matches!(after, 0xc2..0xcc));

/// Does not cut.
pub const WHOLE: Cut = |_, _| false;

/// Cuts after white space between words.
pub const WORDS: Cut = |before, _| matches!(before, b' ' | b'\n');

/// Cuts where letter case does not depend on the other side.
pub const LETTERS: Cut = |before, after| WORDS(before, after) || PLAIN(before, after);

/// Cuts after line feeds.
pub const LINES: Cut = |before, _| before == b'\n';

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b' '
}

impl Cx<'_> {
    /// Returns the items, or an error once the time is over.
    #[inline]
    pub fn in_turn<I: IntoIterator>(&self, items: I) -> impl Iterator<Item = Result<I::Item>> {
        items.into_iter().enumerate().map(|(at, item)| self.at_item(at).map(|()| item))
    }

    /// Looks at the clock at some of the items that are counted by `at`.
    #[inline]
    pub fn at_item(&self, at: usize) -> Result<()> {
        if at % ITEMS == ITEMS - 1 { self.in_time() } else { Ok(()) }
    }

    /// Returns the text in pieces, or an error once the time is over. A text that cannot be cut is one piece.
    pub fn pieces<'t>(&self, text: &'t str, cut: Cut) -> impl Iterator<Item = Result<&'t str>> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (piece, behind) = first_piece(rest, cut)?;
            rest = behind;
            Some(if behind.is_empty() { Ok(piece) } else { self.in_time().map(|()| piece) })
        })
    }

    /// Sorts items whose comparisons are paid for. The sort is stable, and ends in time.
    pub fn sort_by<T>(&self, items: &mut [T], compare: impl FnMut(&T, &T) -> Ordering) -> Result<()> {
        sort_asking(items, compare, &mut || self.in_time())
    }
}

/// Splits off the first piece. `None` for empty text.
fn first_piece(text: &str, cut: Cut) -> Option<(&str, &str)> {
    let later = text.as_bytes().get(BYTES - 1..).unwrap_or(&[]);
    let at = later.windows(2).position(|pair| matches!(pair, [before, after] if cut(*before, *after)));
    let end = at.map_or(text.len(), |at| at + BYTES);
    text.split_at_checked(end).filter(|(piece, _)| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::{Caches, Capabilities};
    use super::*;
    use dropforge_base::limits::{Deadline, Limits};
    use dropforge_base::stdlib::characters::clusters;
    use dropforge_base::stdlib::strings::nfc;
    use dropforge_value::{Arena, Inputs};
    use std::time::Duration;

    fn with_cx(deadline: Option<Duration>, test: impl FnOnce(&Cx<'_>)) {
        let (arena, caches, limits) = (Arena::new(), Caches::default(), Limits::default());
        let deadline = deadline.map(Deadline::after);
        let mut cx = Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches);
        cx.set_deadline(deadline.as_ref());
        test(&cx);
    }

    /// Returns what `change` makes of the pieces.
    fn changed(cx: &Cx<'_>, text: &str, cut: Cut, change: impl Fn(&str) -> String) -> (String, usize) {
        let pieces: Vec<String> = cx.pieces(text, cut).map(|piece| change(piece.unwrap())).collect();
        (pieces.concat(), pieces.len())
    }

    #[test]
    fn pieces_give_what_the_whole_text_gives() {
        let parts =
            ["ab", "ΑΣ ", "ΑΣ1", "a\u{301}", "é a", "\r\n", "\u{1100}\u{1161}", "\u{600} a", "İ b", "漢字 ", "🇩🇪a"];
        with_cx(None, |cx| {
            for (part, other) in parts.iter().flat_map(|part| parts.iter().map(move |other| (part, other))) {
                let text = format!("x{}", format!("{part}{other}").repeat(3 * BYTES / (part.len() + other.len())));
                assert_eq!(changed(cx, &text, LETTERS, str::to_lowercase).0, text.to_lowercase(), "{part}{other}");
                assert_eq!(changed(cx, &text, ASCII, |piece| nfc(piece).into_owned()).0, nfc(&text), "{part}{other}");
                let count: usize = cx.pieces(&text, PLAIN).map(|piece| clusters(piece.unwrap()).count()).sum();
                assert_eq!(count, clusters(&text).count(), "{part}{other}");
                assert!(changed(cx, &text, ANY, str::to_owned).1 >= 3, "{part}{other}");
            }
            assert_eq!(changed(cx, &"a b\n".repeat(BYTES), LINES, str::to_owned).1, 4);
            assert_eq!(changed(cx, &"a b\n".repeat(BYTES), WHOLE, str::to_owned).1, 1);
            assert_eq!(changed(cx, "", ANY, str::to_owned).1, 0);
        });
    }

    #[test]
    fn work_ends_with_the_time() {
        with_cx(Some(Duration::ZERO), |cx| {
            assert!(cx.pieces(&"a".repeat(2 * BYTES), ANY).next().is_some_and(|piece| piece.is_err()));
            assert!(cx.pieces("a", ANY).all(|piece| piece.is_ok()));
            let seen = cx.in_turn(0..10 * ITEMS).take_while(Result::is_ok).count();
            assert_eq!(seen, ITEMS - 1);
        });
    }
}
