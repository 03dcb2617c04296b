//! Refinements of unknown values: narrowing them, and the numbers and lengths that they exclude.

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, compose};

use super::{conforms, is_set, is_wholly_known, marked_by, number_of, number_value, type_of};
use dropforge_base::stdlib::bignum::FULL;
use dropforge_base::stdlib::characters::indices;
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Cx, Outcome};
use dropforge_value::{Arena, BigNum, Map, Refinement, Type, Unknown, Value};

/// Makes a boolean. `None` becomes an unknown boolean that is not null.
pub(super) fn bool_or_unknown<'v>(cx: &Cx<'v>, truth: Option<bool>) -> Value<'v> {
    truth.map_or_else(|| cx.arena().refined(Type::Bool, Refinement::NOT_NULL), Value::Bool)
}

/// Makes an unknown value of type `ty` with a refinement. If only one value satisfies it, makes that value; if the
/// length of a list is known, makes a list of unknown elements.
///
/// # Errors
/// The memory limit was reached.
pub fn settled<'v>(cx: &Cx<'v>, ty: Type<'v>, refinement: Refinement<'v>) -> Outcome<Value<'v>> {
    let arena = cx.arena();
    if refinement.not_null
        && let (Some((least, true)), Some((most, true))) = (refinement.least, refinement.most)
        && least.reads_as(most)
    {
        return number_value(cx, *least);
    }
    if !refinement.not_null || refinement.len_least != refinement.len_most {
        return Ok(arena.refined(ty, refinement));
    }
    let elements = match (ty, refinement.len_least) {
        (Type::Map(_), 0) => cx.map(&[])?,
        (Type::List(element), length) => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            cx.charge(length.saturating_mul(size_of::<Value>()))?;
            cx.list(&vec![arena.unknown(*element); length])?
        }
        (Type::Set(_), 0) => cx.list(&[])?,
        (Type::Set(element), 1) => cx.list(&[arena.unknown(*element)])?,
        _ => return Ok(arena.refined(ty, refinement)),
    };
    Ok(arena.typed(ty, elements))
}

/// Builder that narrows the refinement of a value. Known values and unknown ones of dynamic type stay as they are. A
/// refinement that contradicts an earlier one, or that no value of the type satisfies, is ignored.
///
/// ```text
/// Refine::of(value).not_null().prefix(cx, "vpc-")?.done(cx)?
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Refine<'v> {
    value: Value<'v>,
    /// The type and refinement of an unknown value of known type.
    known: Option<(Type<'v>, Refinement<'v>)>,
}

impl<'v> Refine<'v> {
    /// Starts with the refinement of a value.
    pub fn of(value: Value<'v>) -> Self {
        let known = value.as_unknown().filter(|unknown| unknown.ty != Type::Dynamic);
        Self { value, known: known.map(|unknown| (unknown.ty, unknown.refinement)) }
    }

    fn narrow(mut self, narrow: impl FnOnce(&Type<'v>, &mut Refinement<'v>)) -> Self {
        if let Some((ty, refinement)) = &mut self.known {
            narrow(ty, refinement);
        }
        self
    }

    /// Excludes null.
    pub fn not_null(self) -> Self {
        self.narrow(|_, known| known.not_null = true)
    }

    /// Sets the minimum of a number, which is excluded unless `inclusive`.
    pub fn at_least(self, cx: &Cx<'v>, number: BigNum, inclusive: bool) -> Self {
        self.narrow(|ty, known| {
            if *ty == Type::Number && is_tighter(&number, inclusive, known.least, known.most, Ordering::Greater) {
                known.least = Some(cx.arena().bound(number, inclusive));
            }
        })
    }

    /// Sets the maximum of a number, which is excluded unless `inclusive`.
    pub fn at_most(self, cx: &Cx<'v>, number: BigNum, inclusive: bool) -> Self {
        self.narrow(|ty, known| {
            if *ty == Type::Number && is_tighter(&number, inclusive, known.most, known.least, Ordering::Less) {
                known.most = Some(cx.arena().bound(number, inclusive));
            }
        })
    }

    /// Sets the minimum length of a collection.
    pub fn length_at_least(self, length: u64) -> Self {
        self.narrow(|ty, known| {
            if ty.element().is_some() && length <= known.len_most {
                known.len_least = known.len_least.max(length);
            }
        })
    }

    /// Sets the maximum length of a collection.
    pub fn length_at_most(self, length: u64) -> Self {
        self.narrow(|ty, known| {
            if ty.element().is_some() && length >= known.len_least {
                known.len_most = known.len_most.min(length);
            }
        })
    }

    /// Sets the prefix of a string. If the text after it is unknown, the prefix must end where nothing can combine with
    /// it: see [`safe_prefix`].
    ///
    /// # Errors
    /// The memory limit was reached.
    pub fn prefix(self, cx: &Cx<'v>, prefix: &str) -> Outcome<Self> {
        let prefix = nfc(prefix);
        let longer = |known: &Refinement<'_>| prefix.len() > known.prefix.len() && prefix.starts_with(known.prefix);
        if !matches!(&self.known, Some((Type::String, known)) if longer(known)) {
            return Ok(self);
        }
        cx.charge(prefix.len())?;
        let prefix = cx.arena().copy_str(&prefix);
        Ok(self.narrow(|_, known| known.prefix = prefix))
    }

    /// Makes the refined value.
    ///
    /// # Errors
    /// The memory limit was reached.
    pub fn done(self, cx: &Cx<'v>) -> Outcome<Value<'v>> {
        let Some((ty, refinement)) = self.known else { return Ok(self.value) };
        marked_by(cx, settled(cx, ty, refinement)?, self.value.unmarked().1)
    }
}

/// Returns `true` if a new bound is tighter than the `own` bound, which means `inward` of it, and does not exceed the
/// `opposite` bound.
fn is_tighter(
    number: &BigNum,
    inclusive: bool,
    own: Option<&(BigNum, bool)>,
    opposite: Option<&(BigNum, bool)>,
    inward: Ordering,
) -> bool {
    let tighter = own.is_none_or(|(own, own_inclusive)| match number.compare(own) {
        Ordering::Equal => *own_inclusive && !inclusive,
        ordering => ordering == inward,
    });
    tighter && opposite.is_none_or(|(opposite, _)| number.compare(opposite) != inward)
}

/// Returns the part of the normalized `text` that no following text can change: everything but the last grapheme
/// cluster, unless that is a delimiter, with which nothing combines. Like in the reference, text that ends with a
/// character with which no accent combines ends before the first line end, unless that is `\r\n`.
pub fn safe_prefix(text: &str) -> String {
    let text = nfc(text);
    if let Some(line) = first_line_end(&text).filter(|_| text.chars().next_back().is_some_and(stands_alone)) {
        return text.get(..line).unwrap_or("").to_owned();
    }
    let delimiter = |cluster: &str| cluster.len() == 1 && r#"-_:;/\,.(){}[]|?!~ @#$%^&*+"'"#.contains(cluster);
    let last = indices(&text).next_back().filter(|(_, last)| !delimiter(last) && *last != "\t");
    let end = last.map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or("").to_owned()
}

/// Returns the place of the first line end that is not `\r\n`.
fn first_line_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_pair = |at: usize| bytes.get(at..at + 2) == Some(b"\r\n");
    memchr::memchr2_iter(b'\r', b'\n', bytes).find(|&at| !is_pair(at) && !at.checked_sub(1).is_some_and(is_pair))
}

/// Returns `true` if a character is no accent, contains none, and combines with none that follows.
fn stands_alone(character: char) -> bool {
    let accents = ('\u{300}'..='\u{345}').chain(['\u{653}', '\u{654}', '\u{655}', '\u{93C}', '\u{3099}', '\u{309A}']);
    let is_plain = character.nfd().eq([character]) && canonical_combining_class(character) == 0;
    is_plain && accents.into_iter().all(|accent| compose(character, accent).is_none())
}

/// The range of a number. An unknown end is infinite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) least: BigNum,
    pub(super) most: BigNum,
}

impl Bounds {
    pub(super) fn of(refinement: &Refinement<'_>) -> Self {
        let bound = |bound: Option<&(BigNum, bool)>, negative| {
            bound.map_or_else(|| BigNum::infinity(negative, FULL), |(number, _)| *number)
        };
        Self { least: bound(refinement.least, true), most: bound(refinement.most, false) }
    }

    /// Returns the refinement of a number in this range, ends included, that is not null.
    pub(super) fn refinement<'v>(&self, arena: &'v Arena) -> Refinement<'v> {
        let open = |bound: &BigNum, negative| !bound.is_finite() && bound.is_negative() == negative;
        Refinement {
            least: (!open(&self.least, true)).then(|| arena.bound(self.least, true)),
            most: (!open(&self.most, false)).then(|| arena.bound(self.most, true)),
            ..Refinement::NOT_NULL
        }
    }
}

/// Returns the range of the results of a monotone operation on two ranges, or `None` if the operation has no result for
/// some of their ends.
pub(super) fn result_bounds(
    a: &Bounds,
    b: &Bounds,
    apply: impl Fn(&BigNum, &BigNum) -> Option<BigNum>,
) -> Option<Bounds> {
    let first = apply(&a.least, &b.least)?;
    let mut bounds = Bounds { least: first, most: first };
    for (x, y) in [(&a.least, &b.most), (&a.most, &b.least), (&a.most, &b.most)] {
        let end = apply(x, y)?;
        if end.compare(&bounds.least).is_lt() {
            bounds.least = end;
        }
        if end.compare(&bounds.most).is_gt() {
            bounds.most = end;
        }
    }
    Some(bounds)
}

/// Returns `true` if the value cannot be null.
pub(super) fn is_definitely_not_null(value: Value<'_>) -> bool {
    value.as_unknown().map_or_else(|| !value.is_null(), |unknown| unknown.refinement.not_null)
}

/// Returns `true` if an unknown value cannot turn out to be the known value `value`, which has no marks.
pub(super) fn excludes<'v>(cx: &Cx<'v>, unknown: &Unknown<'v>, value: Value<'v>) -> Outcome<bool> {
    let refinement = &unknown.refinement;
    if value.is_null() {
        return Ok(refinement.not_null);
    }
    if !conforms(&type_of(cx, value)?, &unknown.ty) {
        return Ok(true);
    }
    Ok(match unknown.ty {
        Type::String => value.as_str().is_some_and(|text| !text.starts_with(refinement.prefix)),
        Type::Number => number_of(value).is_some_and(|number| excludes_number(refinement, &number)),
        Type::List(_) | Type::Set(_) | Type::Map(_) => {
            let (least, most) = length_range(cx, value)?;
            most < refinement.len_least || least > refinement.len_most
        }
        _ => false,
    })
}

/// Returns `true` if a number is out of bounds.
fn excludes_number(refinement: &Refinement<'_>, number: &BigNum) -> bool {
    let fits = |bound: &(BigNum, bool), inside: Ordering| {
        let (bound, inclusive) = bound;
        number.compare(bound) == inside || *inclusive && number.reads_as(bound)
    };
    refinement.least.is_some_and(|bound| !fits(bound, Ordering::Greater))
        || refinement.most.is_some_and(|bound| !fits(bound, Ordering::Less))
}

/// Returns the minimum and maximum length of a known collection. Unknown elements of a set may turn out to be equal.
pub(super) fn length_range(cx: &Cx<'_>, collection: Value<'_>) -> Outcome<(u64, u64)> {
    let elements = collection.elements().map(<[_]>::len);
    let length = elements.or_else(|| collection.entries().map(Map::len)).unwrap_or(0) as u64;
    let certain = !is_set(collection) || length <= 1 || is_wholly_known(cx, collection)?;
    Ok((if certain { length } else { 1 }, length))
}

#[cfg(test)]
mod tests {
    use super::safe_prefix;

    #[test]
    fn a_prefix_ends_where_nothing_combines_with_it() {
        let rows = [
            ("testa", "test"),
            ("test_", "test_"),
            ("a-", "a-"),
            ("a1", "a"),
            ("", ""),
            ("a", ""),
            ("a\t", "a\t"),
            ("a\n", "a"),
            ("e\u{301}", ""),
            ("e\u{301}.", "é."),
            ("x👩\u{200d}👩", "x"),
            ("a<", "a"),
            ("a\nb", "a\n"),
            ("a\n1", "a"),
            ("a\nb.", "a"),
            ("a\r\n1.", "a\r\n1."),
            ("a\r1", "a"),
        ];
        for (text, want) in rows {
            assert_eq!(safe_prefix(text), want, "{text:?}");
        }
    }
}
