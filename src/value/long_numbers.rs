//! Numbers that 64 bits do not hold: how they are read, and how inputs with them are given to languages without such numbers.

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::bignum::BigNum;
use dropforge_base::stdlib::paths;

use super::{Arena, Data, Extended, Inputs, Map, Numbers, ReadPaths, ReadPosition, Value, Writing};

impl Data {
    /// Returns the number that a text in the notation of JSON spells: `-12`, `1.5e3`. Nothing of it is rounded. `None` for
    /// other texts.
    ///
    /// ```
    /// use dropforge::value::Data;
    /// assert_eq!(Data::number("-12"), Some(Data::Int(-12)));
    /// assert_eq!(Data::number("0.10"), Some(Data::Float(0.1)));
    /// assert_eq!(Data::number("36893488147419103232"), Some(Data::Number("36893488147419103232".into())));
    /// assert_eq!(Data::number("0x1F"), None);
    /// ```
    pub fn number(text: &str) -> Option<Data> {
        if !crate::json_lexer::is_number(text) {
            return None;
        }
        let whole = text.parse().map(Data::Int).or_else(|_| text.parse().map(Data::Uint)).ok();
        if let Some(whole) = whole.filter(|_| text != "-0") {
            return Some(whole);
        }
        let nearest = text.parse().ok().filter(|n: &f64| n.is_finite() && (!is_whole(text) || *n == 0.0));
        let nearest = nearest.filter(|n| keeps_digits(text, *n)).map(Data::Float);
        Some(nearest.unwrap_or_else(|| Data::Number(text.into())))
    }
}

/// The bits of the largest numbers.
const BITS: u32 = 512;

/// The number of characters of a long number that messages show.
const SHOWN: usize = 60;

/// Returns the error of a number that does not fit so many bits.
#[cold]
fn unfit(text: &str, bits: u32) -> Box<Diagnostic> {
    let shown = text.get(..SHOWN).filter(|shown| shown.len() < text.len());
    let shown = shown.map_or_else(|| text.to_owned(), |shown| format!("{shown}…"));
    Diagnostic::new(Code::InputType, format!("the number {shown} does not fit {bits} bits"))
        .with_help("quote it to keep its digits as text")
}

/// The number of significant digits that every normal float keeps.
const KEPT: usize = 15;

/// Returns `true` if a number in the notation of JSON is spelled as an integer.
pub(super) fn is_whole(text: &str) -> bool {
    !text.contains(['.', 'e', 'E'])
}

/// Returns `true` if `text` has no digits that `nearest`, the float nearest to it, lacks.
fn keeps_digits(text: &str, nearest: f64) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits <= KEPT && (nearest.is_normal() || !text.contains(['e', 'E'])) {
        return true;
    }
    let mut shortest = zmij::Buffer::new();
    let shortest = shortest.format(nearest);
    // Most writers of JSON write this.
    text == shortest || decimal(text) == decimal(shortest)
}

/// Returns `true` if `number` has all digits of the integer `text`, or is as near to a fraction as numbers can be.
fn holds(number: &BigNum, text: &str) -> bool {
    number.is_finite() && (!is_whole(text) || number.to_text() == text)
}

/// Returns the significant digits of a number and the power of ten of the last one.
fn decimal(text: &str) -> (String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let kept = digits.trim_end_matches('0');
    let zeros = digits.len() - kept.len();
    let exponent = exponent.parse().unwrap_or(i64::MAX / 2) + zeros as i64 - fraction as i64;
    let kept = kept.trim_start_matches('0');
    (kept.to_owned(), if kept.is_empty() { 0 } else { exponent })
}

impl Numbers {
    /// Returns the value of a [`Data::Number`].
    ///
    /// # Errors
    /// `input.type` for an integer beyond 512 bits, and for a number that is not in the range of an exponent of 32 bits.
    pub fn long<'v>(self, arena: &'v Arena, text: &str) -> Result<Value<'v>> {
        let nearest = || text.parse().unwrap_or(f64::NAN);
        match self {
            Numbers::AsWritten => {
                let number = BigNum::parse(text).filter(|number| holds(number, text));
                number.map(|number| arena.number(number)).ok_or_else(|| unfit(text, BITS))
            }
            Numbers::Spelled => {
                let spelling = Writing::Spelled(arena.copy_str(text));
                Ok(arena.extended(Extended::Written(Value::Float(nearest()), spelling)))
            }
            _ => Ok(self.float(nearest())),
        }
    }
}

/// The bound of the floats that have all digits of the integers near them.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<'v> Inputs<'v> {
    /// Returns `true` if a number in the inputs does not fit 64 bits.
    #[doc(hidden)]
    pub fn is_long(&self) -> bool {
        self.layers().into_iter().flatten().any(Map::is_long)
    }

    /// Returns the inputs with fractions of many digits as the nearest floats, for a program that reads `reads`.
    ///
    /// ```
    /// use dropforge::value::{Arena, Data, InputBuilder, Inputs, ReadPaths, Shapes, Value};
    /// let (arena, names) = (Arena::new(), Arena::new());
    /// let shapes = Shapes::new(&names);
    /// let data = Data::of_json(r#"{"pi": 3.14159265358979323846, "id": 36893488147419103232}"#).unwrap();
    /// let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data(&data).unwrap());
    /// let mut reads = ReadPaths::default();
    /// reads.add(["pi"]);
    /// let narrowed = inputs.narrowed(&arena, &reads).unwrap();
    /// assert!(matches!(narrowed.get("pi"), Some(Value::Float(n)) if n == std::f64::consts::PI));
    /// reads.add(["id"]);
    /// assert!(inputs.narrowed(&arena, &reads).is_err());
    /// ```
    ///
    /// # Errors
    /// `input.type` with the JSON pointer of a number that is read and would lose digits before the point.
    #[doc(hidden)]
    pub fn narrowed(&self, arena: &'v Arena, reads: &ReadPaths) -> Result<Inputs<'v>> {
        let narrowing = Narrowing { arena, reads };
        let [over, base] = self.layers();
        let layer = |layer: Option<&'v Map<'v>>| match layer {
            Some(map) => narrowing.value(Value::Map(map), Some(&reads.start())),
            None => Ok(Value::Null),
        };
        Ok(Inputs::layered(layer(base)?, layer(over)?))
    }
}

struct Narrowing<'n, 'v> {
    arena: &'v Arena,
    reads: &'n ReadPaths,
}

impl<'v> Narrowing<'_, 'v> {
    /// Returns the value at a position. Nothing is read at `None`.
    fn value(&self, value: Value<'v>, at: Option<&ReadPosition>) -> Result<Value<'v>> {
        match value {
            Value::List(list) if value.is_long() => {
                let next = self.step(at, None);
                let items = list.items().iter().enumerate();
                let items = items.map(|(nth, item)| below(self.value(*item, next.as_ref()), &nth.to_string()));
                Ok(self.arena.list(&items.collect::<Result<Vec<_>>>()?))
            }
            Value::Map(map) if value.is_long() => {
                let entries = map.iter().map(|(key, value)| {
                    let next = self.step(at, Some(key));
                    below(self.value(value, next.as_ref()), key)
                });
                let values = entries.collect::<Result<Vec<_>>>()?;
                Ok(self.arena.shaped_map(map.shape(), self.arena.bump().alloc_slice_copy(&values)))
            }
            _ => match value.extended() {
                Some(Extended::Number(number)) => narrow(number).map_or_else(
                    || if at.is_some() { Err(unfit(&number.to_text(), 64)) } else { Ok(value) },
                    |n| Ok(Value::Float(n)),
                ),
                _ => Ok(value),
            },
        }
    }

    /// Returns the position at a key or an item. All is read below a position that is read as a whole.
    fn step(&self, at: Option<&ReadPosition>, key: Option<&str>) -> Option<ReadPosition> {
        let at = at?;
        if self.reads.is_whole(at) { Some(at.clone()) } else { self.reads.step(at, key) }
    }
}

/// Returns the float nearest to a number if it has all digits before the point.
fn narrow(number: &BigNum) -> Option<f64> {
    number.to_f64().filter(|n| n.abs() < EXACT)
}

/// Returns the value of a [`Data::Number`] in a language whose numbers have 64 bits.
///
/// # Errors
/// `input.type` for a number that would lose digits before the point.
pub fn narrowed_number(text: &str) -> Result<Value<'static>> {
    BigNum::parse(text).and_then(|number| narrow(&number)).map(Value::Float).ok_or_else(|| unfit(text, 64))
}

/// Adds a step to the JSON pointer of an error.
pub(super) fn below<T>(result: Result<T>, step: &str) -> Result<T> {
    result.map_err(|error| under(error, step))
}

#[cold]
fn under(mut error: Box<Diagnostic>, step: &str) -> Box<Diagnostic> {
    if error.code == Code::InputType {
        let inner = error.fields.remove("pointer").unwrap_or_default();
        let mut pointer = String::new();
        paths::push(&mut pointer, step);
        error.fields.insert("pointer", pointer + &inner);
    }
    error
}
