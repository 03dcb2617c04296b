//! Inputs written as names and values, without a type of their own.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// The values of some names, a map.
pub trait InputEntries {
    /// Adds the entries to a map.
    ///
    /// # Errors
    /// The errors of the map.
    fn add_to<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// No names.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInputs;

/// A name with its value, after others.
#[derive(Debug, Clone, Copy)]
pub struct InputEntry<O, T> {
    /// The entries before it.
    pub others: O,
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: T,
}

impl InputEntries for NoInputs {
    fn add_to<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }
}

impl<O: InputEntries, T: Serialize> InputEntries for InputEntry<O, T> {
    fn add_to<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.others.add_to(map)?;
        map.serialize_entry(self.name, &self.value)
    }
}

fn serialize<S: Serializer>(entries: &impl InputEntries, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    entries.add_to(&mut map)?;
    map.end()
}

impl Serialize for NoInputs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self, serializer)
    }
}

impl<O: InputEntries, T: Serialize> Serialize for InputEntry<O, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self, serializer)
    }
}
