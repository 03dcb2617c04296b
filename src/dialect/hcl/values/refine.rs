//! Refinements of unknown values: narrowing them until only one value is left.

use std::cmp::Ordering;

use super::Outcome;
use super::marks::marked_by;
use super::numbers::number_value;
use crate::function::Cx;
use crate::stdlib::graphemes::indices;
use crate::stdlib::strings::nfc;
use crate::value::{BigNum, Refinement, Type, Value};

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
/// cluster, unless that is a delimiter, with which nothing combines.
pub fn safe_prefix(text: &str) -> String {
    let text = nfc(text);
    let delimiter = |cluster: &str| cluster.len() == 1 && r#"-_:;/\,.(){}[]|?!~ @#$%^&*+"'"#.contains(cluster);
    let last = indices(&text).next_back().filter(|(_, last)| !delimiter(last) && *last != "\t");
    let end = last.map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or("").to_owned()
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
        ];
        for (text, want) in rows {
            assert_eq!(safe_prefix(text), want, "{text:?}");
        }
    }
}
