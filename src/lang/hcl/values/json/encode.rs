//! Encoding of values as JSON, and quoted text.

use super::encode_type;
use crate::values::{conforms, convert, number_of, type_of};
use dropforge_machine::function::{Cx, Fault, Outcome, PathStep};
use dropforge_value::{Map, Type, Value};

/// Encodes `value`, converted to `ty`. [`decode`](super::decode) with the same type restores it: where `ty` has the
/// dynamic type, the value is written with its type, as `{"value":…,"type":…}`.
pub fn encode<'v>(cx: &Cx<'v>, value: Value<'v>, ty: &Type<'v>) -> Outcome<String> {
    let value = if conforms(&type_of(cx, value)?, ty) { value } else { convert(cx, value, ty)? };
    written(cx, value, Some(ty))
}

/// Encodes `value` without types: lists, sets and tuples are arrays, maps and objects are objects with sorted names.
pub fn encode_plain<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    written(cx, value, None)
}

fn written<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Option<&Type<'v>>) -> Outcome<String> {
    let mut writer = Writer { cx, out: String::new(), paid: 0 };
    writer.value(value, ty)?;
    Ok(writer.out)
}

struct Writer<'a, 'v> {
    cx: &'a Cx<'v>,
    out: String,
    /// Number of bytes of `out` that are charged.
    paid: usize,
}

impl<'v> Writer<'_, 'v> {
    /// Writes `value`. If a type is given, values of the dynamic type are written with their type.
    fn value(&mut self, value: Value<'v>, ty: Option<&Type<'v>>) -> Outcome<()> {
        self.cx.spend(1)?;
        self.cx.charge(self.out.len() - self.paid)?;
        self.paid = self.out.len();
        if value.is_marked() {
            return Err(Fault::wrong("value has marks, so it cannot be written as JSON"));
        }
        if matches!(ty, Some(Type::Dynamic)) {
            return self.with_type(value);
        }
        if value.is_null() {
            self.out.push_str("null");
            return Ok(());
        }
        if let Some(items) = value.elements() {
            return self.list(items, ty);
        }
        match (value, value.entries()) {
            (Value::Map(_), Some(map)) => self.map(map, ty, PathStep::Attr),
            (_, Some(map)) => self.map(map, ty, PathStep::Key),
            _ => self.scalar(value),
        }
    }

    /// Writes a value of the dynamic type with its own type. A null without a type is just null.
    fn with_type(&mut self, value: Value<'v>) -> Outcome<()> {
        let ty = type_of(self.cx, value)?;
        if matches!(ty, Type::Dynamic) {
            return self.value(value, None);
        }
        self.out.push_str("{\"value\":");
        self.value(value, Some(&ty))?;
        self.out.push_str(",\"type\":");
        self.out.push_str(&encode_type(&ty)?);
        self.out.push('}');
        Ok(())
    }

    fn scalar(&mut self, value: Value<'v>) -> Outcome<()> {
        match value {
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Int(n) => self.out.push_str(itoa::Buffer::new().format(n)),
            Value::Str(text) => {
                self.cx.charge(text.as_str().len())?;
                write_string(text.as_str(), &mut self.out);
            }
            _ if !value.is_known() => return Err(Fault::wrong("value is not known")),
            _ => match number_of(value).filter(|number| number.is_finite()) {
                Some(number) => {
                    self.cx.charge(number.text_len())?;
                    self.cx.spend(number.digit_steps())?;
                    self.out.push_str(&number.to_text());
                }
                None if number_of(value).is_some() => return Err(Fault::wrong("an infinite number has no JSON form")),
                None => return Err(Fault::wrong(format!("a {} cannot be written as JSON", value.kind()))),
            },
        }
        Ok(())
    }

    fn list(&mut self, items: &[Value<'v>], ty: Option<&Type<'v>>) -> Outcome<()> {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            let element = match ty {
                Some(Type::Tuple(elements)) => elements.get(at),
                ty => ty.and_then(Type::element),
            };
            self.value(*item, element).map_err(|fault| fault.within(PathStep::index(at)))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn map(&mut self, map: &Map<'v>, ty: Option<&Type<'v>>, step: fn(String) -> PathStep) -> Outcome<()> {
        self.out.push('{');
        for (at, (name, value)) in map.iter_sorted().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            write_string(name, &mut self.out);
            self.out.push(':');
            let element = ty.and_then(|ty| ty.element().or_else(|| ty.attribute(name).map(|attribute| &attribute.ty)));
            self.value(value, element).map_err(|fault| fault.within(step(name.to_owned())))?;
        }
        self.out.push('}');
        Ok(())
    }
}

/// Appends `text` in quotes with the escapes of the reference, which include characters that are special in HTML or end
/// a line in JavaScript.
pub fn write_string(text: &str, out: &mut String) {
    push_quoted(out, text, ("\"\\\n\r\t\u{8}\u{c}", "\"\\nrtbf"), |c| {
        let special = matches!(c, '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        special.then(|| format!("\\u{:04x}", u32::from(c)))
    });
}

/// Appends `text` in double quotes. A character of `special` becomes a backslash and the letter at the same position in
/// `letters`. For other characters, `escape` returns an escape sequence if they need one.
pub fn push_quoted(
    out: &mut String,
    text: &str,
    (special, letters): (&str, &str),
    escape: impl Fn(char) -> Option<String>,
) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, ' ' | '-' | '.' | '_' | '0'..='9' | 'A'..='Z' | 'a'..='z') {
            out.push(c);
        } else if let Some((_, letter)) = special.chars().zip(letters.chars()).find(|(special, _)| *special == c) {
            out.extend(['\\', letter]);
        } else if let Some(escape) = escape(c) {
            out.push_str(&escape);
        } else {
            out.push(c);
        }
    }
    out.push('"');
}
