//! Values to JSON text.

use super::super::convert::convert;
use super::super::number_of;
use super::super::types::{conforms, type_of};
use super::super::{Fault, Outcome, PathStep};
use super::types::write_type;
use crate::function::Cx;
use crate::value::{Extended, Type, Value};

/// `value`, converted to `ty`, as JSON text from which [`decode`](super::decode) with the same type reads it again:
/// where the dynamic type stands in `ty`, the value comes with its type, as `{"value":…,"type":…}`.
pub fn encode<'v>(cx: &Cx<'v>, value: Value<'v>, ty: &Type<'v>) -> Outcome<String> {
    let value = if conforms(&type_of(cx, value)?, ty) { value } else { convert(cx, value, ty)? };
    let mut writer = Writer { cx, out: String::new(), paid: 0 };
    writer.value(value, Some(ty))?;
    Ok(writer.out)
}

/// `value` as JSON text without any type: lists, sets and tuples are arrays, maps and objects are objects with their
/// names in order.
pub fn encode_plain<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    let mut writer = Writer { cx, out: String::new(), paid: 0 };
    writer.value(value, None)?;
    Ok(writer.out)
}

struct Writer<'a, 'v> {
    cx: &'a Cx<'v>,
    out: String,
    /// How many bytes of `out` are paid for.
    paid: usize,
}

impl<'v> Writer<'_, 'v> {
    /// Writes `value` as a value of type `ty`; without types where there is none.
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
        match (value, value.extended()) {
            (Value::Map(map), _) => self.map(map, ty, |name| PathStep::Attr(name.to_owned())),
            (_, Some(Extended::Typed(..))) => match value.entries() {
                Some(map) => self.map(map, ty, |name| PathStep::Key(name.to_owned())),
                None => Ok(()),
            },
            _ => self.scalar(value),
        }
    }

    /// A value where any type may stand; a null without a type is just null.
    fn with_type(&mut self, value: Value<'v>) -> Outcome<()> {
        let ty = type_of(self.cx, value)?;
        if matches!(ty, Type::Dynamic) {
            return self.value(value, None);
        }
        self.out.push_str("{\"value\":");
        self.value(value, Some(&ty))?;
        self.out.push_str(",\"type\":");
        write_type(&ty, &mut self.out)?;
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
            let step = || PathStep::Index(i64::try_from(at).unwrap_or(i64::MAX));
            self.value(*item, element).map_err(|fault| fault.within(step()))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn map(
        &mut self,
        map: &crate::value::Map<'v>,
        ty: Option<&Type<'v>>,
        step: impl Fn(&str) -> PathStep,
    ) -> Outcome<()> {
        self.out.push('{');
        for (at, (name, value)) in map.iter_sorted().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            write_string(name, &mut self.out);
            self.out.push(':');
            let element = ty.and_then(|ty| ty.element().or_else(|| ty.attribute(name).map(|attribute| &attribute.ty)));
            self.value(value, element).map_err(|fault| fault.within(step(name)))?;
        }
        self.out.push('}');
        Ok(())
    }
}

/// Appends `text` in quotes, with what the reference escapes: quotes, backslashes and control characters, and what
/// has a meaning in HTML or ends a line in JavaScript.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
