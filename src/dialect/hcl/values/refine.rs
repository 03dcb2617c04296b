//! What is known of unknown values: narrowing it, until only one value is left.

use super::Outcome;
use crate::function::Cx;
use crate::stdlib::clusters::indices;
use crate::stdlib::strings::nfc;
use crate::value::{BigNum, Refinement, Type, Value};

/// An unknown boolean that is not null: what an operation gives whose result hangs on what is unknown.
pub(super) fn unknown_bool<'v>(cx: &Cx<'v>) -> Value<'v> {
    cx.arena().refined(Type::Bool, Refinement::NOT_NULL)
}

/// The unknown value of type `ty` of which `refinement` is known; where only one value meets that, or a list of so
/// many unknown elements, that value.
///
/// # Errors
/// The memory of the render is spent.
pub fn settled<'v>(cx: &Cx<'v>, ty: Type<'v>, refinement: Refinement<'v>) -> Outcome<Value<'v>> {
    let arena = cx.arena();
    if refinement.not_null
        && let (Some((least, true)), Some((most, true))) = (refinement.least, refinement.most)
        && least.reads_as(most)
    {
        return super::numbers::number(cx, *least);
    }
    if !refinement.not_null || refinement.len_least != refinement.len_most {
        return Ok(arena.refined(ty, refinement));
    }
    let made = match (ty, refinement.len_least) {
        (Type::Map(_), 0) => cx.map(&[])?,
        (Type::List(_) | Type::Set(_), 0) => cx.list(&[])?,
        (Type::List(element), length) => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            cx.charge(length.saturating_mul(size_of::<Value>()))?;
            cx.list(&vec![arena.unknown(*element); length])?
        }
        (Type::Set(element), 1) => cx.list(&[arena.unknown(*element)])?,
        _ => return Ok(arena.refined(ty, refinement)),
    };
    Ok(arena.typed(ty, made))
}

/// Narrows what is known of a value. A known value stays as it is, and so does an unknown one of the dynamic type;
/// what contradicts what is known already, or fits no value of the type, is passed over.
///
/// ```text
/// Refine::of(value).not_null().prefix(cx, "vpc-")?.done(cx)?
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Refine<'v> {
    value: Value<'v>,
    /// The type and what is known, where the value is unknown and of a known type.
    known: Option<(Type<'v>, Refinement<'v>)>,
}

impl<'v> Refine<'v> {
    /// Begins with what is known of the value.
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

    /// It is not null.
    pub fn not_null(self) -> Self {
        self.narrow(|_, known| known.not_null = true)
    }

    /// It is at least this number, or, where not `inclusive`, above it.
    pub fn at_least(self, cx: &Cx<'v>, number: BigNum, inclusive: bool) -> Self {
        let tighter = |(bound, own): &(BigNum, bool)| {
            number.compare(bound).is_gt() || number.compare(bound).is_eq() && *own && !inclusive
        };
        let fits = |most: Option<&(BigNum, bool)>| most.is_none_or(|(most, _)| number.compare(most).is_le());
        self.narrow(|ty, known| {
            if *ty == Type::Number && known.least.is_none_or(tighter) && fits(known.most) {
                known.least = Some(cx.arena().bound(number, inclusive));
            }
        })
    }

    /// It is at most this number, or, where not `inclusive`, below it.
    pub fn at_most(self, cx: &Cx<'v>, number: BigNum, inclusive: bool) -> Self {
        let tighter = |(bound, own): &(BigNum, bool)| {
            number.compare(bound).is_lt() || number.compare(bound).is_eq() && *own && !inclusive
        };
        let fits = |least: Option<&(BigNum, bool)>| least.is_none_or(|(least, _)| number.compare(least).is_ge());
        self.narrow(|ty, known| {
            if *ty == Type::Number && known.most.is_none_or(tighter) && fits(known.least) {
                known.most = Some(cx.arena().bound(number, inclusive));
            }
        })
    }

    /// It has at least this many elements.
    pub fn length_at_least(self, length: u64) -> Self {
        self.narrow(|ty, known| {
            if ty.element().is_some() && length <= known.len_most {
                known.len_least = known.len_least.max(length);
            }
        })
    }

    /// It has at most this many elements.
    pub fn length_at_most(self, length: u64) -> Self {
        self.narrow(|ty, known| {
            if ty.element().is_some() && length >= known.len_least {
                known.len_most = known.len_most.min(length);
            }
        })
    }

    /// Its text begins with this. Where what follows is not known, the prefix must end where nothing can combine with
    /// it: see [`safe_prefix`].
    ///
    /// # Errors
    /// The memory of the render is spent.
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

    /// The value of which this is known.
    ///
    /// # Errors
    /// The memory of the render is spent.
    pub fn done(self, cx: &Cx<'v>) -> Outcome<Value<'v>> {
        let Some((ty, refinement)) = self.known else { return Ok(self.value) };
        super::marks::marked_by(cx, settled(cx, ty, refinement)?, self.value.unmarked().1, &[])
    }
}

/// As much of `text`, normalised, as stays as it is whatever text follows: without the last cluster of characters,
/// unless that is a delimiter, which nothing combines with.
pub fn safe_prefix(text: &str) -> String {
    let text = nfc(text);
    let delimiter = |cluster: &str| cluster.len() == 1 && r#"-_:;/\,.(){}[]|?!~ @#$%^&*+"'"#.contains(cluster);
    let last = indices(&text).next_back().filter(|(_, last)| !delimiter(last) && *last != "\t");
    let kept = last.map_or(text.len(), |(at, _)| at);
    text.get(..kept).unwrap_or("").to_owned()
}

/// `value`, known not to be null; of a value whose type is not known either nothing can be said.
pub fn not_null<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    let (plain, marks) = value.unmarked();
    match plain.as_unknown() {
        Some(unknown) if !unknown.refinement.not_null && !matches!(unknown.ty, Type::Dynamic) => {
            let refinement = Refinement { not_null: true, ..unknown.refinement };
            Ok(cx.arena().marked(settled(cx, unknown.ty, refinement)?, marks))
        }
        _ => Ok(value),
    }
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
