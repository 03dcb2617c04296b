//! Excerpts of long lines and values. The change is always in them.

use std::borrow::Cow;

use super::diff::Hunk;
use dropforge_base::diagnostics::thousands;

/// Maximum number of characters of a line of a diff.
const LINE: usize = 200;
/// Maximum length of the key of a line, which an excerpt from its middle has, too.
const KEY: usize = 60;

/// Returns a number of characters of an old and a new text, with all or the beginning of what differs. `…` and a number stand
/// for the others.
pub(super) fn pair(old: &str, new: &str, most: usize) -> (String, String) {
    let (olds, news): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    if olds.len() <= most && news.len() <= most {
        return (old.to_owned(), new.to_owned());
    }
    let head = olds.iter().zip(&news).take_while(|(a, b)| a == b).count();
    let rest = olds.len().min(news.len()) - head;
    let tail = olds.iter().rev().zip(news.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let excerpt = |text: &[char]| around(text, head, text.len() - tail, most);
    (excerpt(&olds), excerpt(&news))
}

/// Returns a number of characters of a text from its start.
pub(super) fn one(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    around(&chars, 0, most, most)
}

/// Returns at most about `most` characters of a text around a range of it.
fn around(text: &[char], from: usize, to: usize, most: usize) -> String {
    if text.len() <= most {
        return text.iter().collect();
    }
    let margin = most / 4;
    let start = if from <= margin + KEY / 4 { 0 } else { from - margin };
    let end = (to + margin).min(start + most).clamp(start, text.len());
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or(&[]).iter().collect::<String>();
    let key = if start > 0 { key(text, start) } else { 0 };
    let mut excerpt = part(0, key);
    if start > key {
        excerpt += &left_out(start - key);
    }
    excerpt += &part(start, end);
    if end < text.len() {
        excerpt += &left_out(text.len() - end);
    }
    excerpt
}

/// Returns the length of the key and the indentation of a line, if they are short.
fn key(text: &[char], most: usize) -> usize {
    let found = text.windows(2).take(KEY.min(most)).position(|pair| pair == [':', ' ']);
    found.map_or(0, |at| at + 2).min(most)
}

fn left_out(count: usize) -> String {
    format!("…{} characters…", thousands(count))
}

/// Shortens the long lines of a hunk. A line that goes is compared with the one that comes in its place.
pub(super) fn shorten(hunk: &mut Hunk<'_>) {
    let mut rest = hunk.lines.as_mut_slice();
    while let Some((sign, _)) = rest.first() {
        let count =
            |lines: &[(char, Cow<'_, str>)], sign: char| lines.iter().take_while(|(other, _)| *other == sign).count();
        let (gone, come) = match sign {
            ' ' => (count(rest, ' '), 0),
            _ => (count(rest, '-'), count(rest.get(count(rest, '-')..).unwrap_or(&[]), '+')),
        };
        let (run, after) = rest.split_at_mut((gone + come).max(1));
        let (old, new) = run.split_at_mut(gone.min(run.len()));
        for nth in 0..old.len().max(new.len()) {
            match (old.get_mut(nth), new.get_mut(nth)) {
                (Some((_, old)), Some((_, new))) => replace_pair(old, new),
                (Some((_, one)), None) | (None, Some((_, one))) => replace(one),
                (None, None) => {}
            }
        }
        rest = after;
    }
}

fn replace_pair(old: &mut Cow<'_, str>, new: &mut Cow<'_, str>) {
    if old.len() <= LINE && new.len() <= LINE {
        return;
    }
    let ((a, a_end), (b, b_end)) = (without_end(old), without_end(new));
    let (a, b) = pair(a, b, LINE);
    (*old, *new) = ((a + a_end).into(), (b + b_end).into());
}

fn replace(line: &mut Cow<'_, str>) {
    if line.len() > LINE {
        let (text, end) = without_end(line);
        *line = (one(text, LINE) + end).into();
    }
}

fn without_end(line: &str) -> (&str, &'static str) {
    line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_change_is_in_the_excerpt_with_the_key() {
        let text = |middle: &str| format!("  data: {}{middle}{}", "A".repeat(5_000), "B".repeat(3_000));
        let (old, new) = pair(&text("x"), &text("y"), LINE);
        assert!(old.starts_with("  data: …4,950 characters…AAA") && old.contains("AAAxBBB"), "{old}");
        assert!(new.contains("AAAyBBB") && new.ends_with("BBB…2,950 characters…"), "{new}");
        let (old, _) = pair(&"x".repeat(1_000), &"y".repeat(1_000), LINE);
        assert!(old.starts_with("xxx") && old.ends_with("…800 characters…"), "{old}");
        assert_eq!(pair("a", "b", LINE), ("a".to_owned(), "b".to_owned()));
        assert_eq!(one(&"é".repeat(300), LINE), "é".repeat(200) + "…100 characters…");
    }

    proptest! {
        #[test]
        fn excerpts_of_different_texts_differ(head in "[ab:é ]{0,400}", old in "[x-z]{0,300}", new in "[x-z]{0,300}", tail in "[ab]{0,400}") {
            prop_assume!(old != new);
            let (a, b) = (format!("{head}{old}{tail}"), format!("{head}{new}{tail}"));
            prop_assume!(a != b);
            let (shown_a, shown_b) = pair(&a, &b, LINE);
            prop_assert_ne!(&shown_a, &shown_b);
            for shown in [shown_a, shown_b] {
                prop_assert!(shown.chars().count() <= LINE + KEY + 60);
            }
        }
    }
}
