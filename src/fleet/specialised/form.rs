//! The form of clusters' inputs that classes rely on: a tree of their own values.

use super::classes::Classes;
use dropforge_machine::specialise::{Demand, Known};
use dropforge_value::Value;

/// A part of the inputs.
#[derive(Debug)]
pub(super) enum Form<'d> {
    /// A map with these entries and perhaps others.
    Fields(Vec<(&'d str, Form<'d>)>),
    /// A map with exactly these entries.
    Entries(Vec<(&'d str, Form<'d>)>),
    /// The value of a leaf, by its index.
    Leaf(usize),
    Text,
    Any,
}

impl<'d> Form<'d> {
    pub fn of(classes: &'d Classes<'_>) -> Self {
        let mut form = Form::Fields(Vec::new());
        for (keys, names) in &classes.maps {
            let entry = |(name, is_text): &(&'d str, bool)| (*name, if *is_text { Form::Text } else { Form::Any });
            form.insert(keys, Form::Entries(names.iter().map(entry).collect()));
        }
        for (nth, leaf) in classes.leaves.iter().enumerate() {
            form.insert(&leaf.keys, Form::Leaf(nth));
        }
        form
    }

    fn insert(&mut self, keys: &'d [String], form: Form<'d>) {
        let Some((name, rest)) = keys.split_first() else {
            *self = form;
            return;
        };
        if !matches!(self, Form::Fields(_) | Form::Entries(_)) {
            *self = Form::Fields(Vec::new());
        }
        let (Form::Fields(fields) | Form::Entries(fields)) = self else { return };
        let found = fields.iter().position(|(field, _)| field == name).unwrap_or_else(|| {
            fields.push((name, Form::Any));
            fields.len() - 1
        });
        if let Some((_, below)) = fields.get_mut(found) {
            below.insert(rest, form);
        }
    }

    /// Returns what the guard demands, and adds the leaves to `order` as it numbers them.
    pub fn given(&self, classes: &Classes<'_>, order: &mut Vec<usize>) -> Demand {
        let mut all = |fields: &[(&str, Form<'d>)]| -> Vec<(String, Demand)> {
            fields.iter().map(|(name, form)| ((*name).to_owned(), form.given(classes, order))).collect()
        };
        match self {
            Form::Fields(fields) => Demand::Fields(all(fields)),
            Form::Entries(fields) => Demand::Entries(all(fields)),
            Form::Leaf(nth) => {
                order.push(*nth);
                let values = classes.leaves.get(*nth).map_or(&[][..], |leaf| &leaf.values);
                Demand::OneOf(values.iter().copied().cloned().collect())
            }
            Form::Text => Demand::Text,
            Form::Any => Demand::Any,
        }
    }

    /// Returns the inputs that are known with these values of the leaves.
    pub fn known<'v>(&'v self, leaf: &dyn Fn(usize) -> Option<Value<'v>>) -> Known<'v> {
        let all = |fields: &'v [(&'d str, Form<'d>)]| -> Vec<(&'v str, Known<'v>)> {
            fields.iter().map(|(name, form)| (*name, form.known(leaf))).collect()
        };
        match self {
            Form::Fields(fields) => Known::Fields(all(fields)),
            Form::Entries(fields) => Known::Entries(all(fields)),
            Form::Leaf(nth) => leaf(*nth).map_or(Known::Open, Known::Value),
            Form::Text => Known::Text,
            Form::Any => Known::Open,
        }
    }
}

/// Adds what is known of clusters' own inputs to what is known of the shared ones.
pub(super) fn over<'v>(shared: &Known<'v>, own: Known<'v>) -> Known<'v> {
    match (shared, own) {
        (Known::Fields(shared), Known::Fields(own)) => {
            let mut fields: Vec<_> =
                shared.iter().filter(|(name, _)| own.iter().all(|(one, _)| one != name)).cloned().collect();
            fields.extend(own.into_iter().map(|(name, own)| {
                let below = shared.iter().find(|(one, _)| *one == name);
                (name, below.map_or_else(|| own.clone(), |(_, below)| over(below, own.clone())))
            }));
            Known::Fields(fields)
        }
        (_, own) => own,
    }
}
