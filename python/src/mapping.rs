//! Python objects as a serde deserializer. Strings are copied once, into the memory of the inputs.

use std::fmt;

use dropforge::diagnostics::{Code, Diagnostic};
use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use crate::errors::exception;

/// Maximum nesting of inputs.
const LEVELS: u32 = 128;

/// A Python object that is read as a value, with at most `levels` levels.
pub struct Object<'a, 'py> {
    object: &'a Bound<'py, PyAny>,
    levels: u32,
}

impl<'a, 'py> Object<'a, 'py> {
    /// Wraps `object`.
    pub fn new(object: &'a Bound<'py, PyAny>) -> Self {
        Self { object, levels: LEVELS }
    }
}

/// An object that cannot be read.
#[derive(Debug)]
pub struct Unread {
    /// The keys that lead to it, innermost first.
    path: Vec<String>,
    why: Why,
}

#[derive(Debug)]
enum Why {
    /// An exception of the object's own code.
    Raised(PyErr),
    Unfit(String),
    Depth,
}

impl Unread {
    fn unfit(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), why: Why::Unfit(message.into()) }
    }

    fn below(mut self, key: impl Into<String>) -> Self {
        // A path this long is that of an object that contains itself.
        if self.path.len() < 16 {
            self.path.push(key.into());
        }
        self
    }

    /// Returns the exception.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        let path: Vec<String> = self.path.into_iter().rev().collect();
        let place = if path.is_empty() { "the inputs".to_owned() } else { format!("`{}`", path.join(".")) };
        match self.why {
            Why::Raised(error) => error,
            Why::Unfit(what) => {
                let error = Diagnostic::new(Code::InputType, format!("{place}: {what}"));
                exception(
                    py,
                    &error.with_help("use None, bool, int, float, str, list, tuple, dict, or dates and times"),
                )
            }
            Why::Depth => {
                let message = format!("the inputs nest too deep: the limit is {LEVELS} levels");
                exception(py, &Diagnostic::new(Code::LimitDepth, message))
            }
        }
    }
}

impl From<PyErr> for Unread {
    fn from(error: PyErr) -> Self {
        Self { path: Vec::new(), why: Why::Raised(error) }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Unread {}

impl Error for Unread {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::unfit(message.to_string())
    }
}

impl<'de> Deserializer<'de> for Object<'_, '_> {
    type Error = Unread;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        let object = self.object;
        if let Ok(text) = object.cast::<PyString>() {
            return visitor.visit_str(text.to_str()?);
        }
        if let Ok(map) = object.cast::<PyDict>() {
            return visitor.visit_map(Entries {
                entries: map.iter(),
                key: String::new(),
                value: None,
                levels: self.below()?,
            });
        }
        if let Ok(flag) = object.cast::<PyBool>() {
            return visitor.visit_bool(flag.is_true());
        }
        if let Ok(number) = object.cast::<PyInt>() {
            return integer(number, visitor);
        }
        if let Ok(number) = object.cast::<PyFloat>() {
            return visitor.visit_f64(number.value());
        }
        if object.is_none() {
            return visitor.visit_unit();
        }
        let levels = self.below()?;
        if let Ok(list) = object.cast::<PyList>() {
            return visitor.visit_seq(Items { items: list.iter(), at: 0, levels });
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return visitor.visit_seq(Items { items: tuple.iter(), at: 0, levels });
        }
        other(object, levels, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl Object<'_, '_> {
    fn below(&self) -> Result<u32, Unread> {
        self.levels.checked_sub(1).ok_or(Unread { path: Vec::new(), why: Why::Depth })
    }
}

fn integer<'de, V: Visitor<'de>>(number: &Bound<'_, PyInt>, visitor: V) -> Result<V::Value, Unread> {
    if let Ok(small) = number.extract::<i64>() {
        return visitor.visit_i64(small);
    }
    match number.extract::<u64>() {
        Ok(large) => visitor.visit_u64(large),
        Err(_) => Err(Unread::unfit("an integer of more than 64 bits")),
    }
}

/// Reads an object of another type: a mapping, a date or time, a number of NumPy, a path, a decimal.
fn other<'de, V: Visitor<'de>>(object: &Bound<'_, PyAny>, levels: u32, visitor: V) -> Result<V::Value, Unread> {
    let py = object.py();
    if let Ok(map) = object.cast::<PyMapping>() {
        let dict = PyDict::new(py);
        dict.update(map)?;
        return visitor.visit_map(Entries { entries: dict.iter(), key: String::new(), value: None, levels });
    }
    // Dates and times; paths; numbers and arrays of NumPy.
    for name in [intern!(py, "isoformat"), intern!(py, "__fspath__"), intern!(py, "tolist")] {
        if let Ok(method) = object.getattr(name) {
            return Object { object: &method.call0()?, levels }.deserialize_any(visitor);
        }
    }
    let class = object.get_type();
    let name = class.fully_qualified_name()?;
    match name.to_str()? {
        "decimal.Decimal" | "uuid.UUID" => visitor.visit_str(object.str()?.to_str()?),
        name => Err(Unread::unfit(format!("a value of the type {name} is no input"))),
    }
}

struct Items<I> {
    items: I,
    at: usize,
    levels: u32,
}

impl<'de, 'py, I: Iterator<Item = Bound<'py, PyAny>>> SeqAccess<'de> for Items<I> {
    type Error = Unread;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Unread> {
        let Some(object) = self.items.next() else { return Ok(None) };
        let value = seed.deserialize(Object { object: &object, levels: self.levels });
        self.at += 1;
        value.map(Some).map_err(|error| error.below((self.at - 1).to_string()))
    }
}

struct Entries<'py, I> {
    entries: I,
    /// The key and value of the current entry.
    key: String,
    value: Option<Bound<'py, PyAny>>,
    levels: u32,
}

impl<'de, 'py, I> MapAccess<'de> for Entries<'py, I>
where
    I: Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
{
    type Error = Unread;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unread> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        let Ok(key) = key.cast::<PyString>() else {
            let name = key.get_type().fully_qualified_name()?;
            return Err(Unread::unfit(format!("a key has the type {name}, and keys are str")));
        };
        let key = key.to_str()?;
        self.key.clear();
        self.key.push_str(key);
        self.value = Some(value);
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Unread> {
        let Some(value) = self.value.take() else {
            return Err(PyRecursionError::new_err("a value without a key").into());
        };
        let read = seed.deserialize(Object { object: &value, levels: self.levels });
        read.map_err(|error| error.below(std::mem::take(&mut self.key)))
    }
}
