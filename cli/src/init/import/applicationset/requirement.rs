//! Requirements of selectors: `matchExpressions`.

use dropforge::value::Data;

use super::template::text_of;
use crate::init::import::notes::Notes;
use crate::init::import::yaml::Yaml;

/// A requirement on the value of a label.
#[derive(Debug)]
pub(super) struct Requirement {
    pub(super) key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Requirement {
    /// Reads a list of requirements. One that is not understood is noted.
    pub(super) fn all(list: &Yaml, notes: &mut Notes) -> Vec<Self> {
        let items = list.items("matchExpressions", notes);
        items.iter().filter_map(|item| Self::of(item, notes)).collect()
    }

    fn of(item: &Yaml, notes: &mut Notes) -> Option<Self> {
        let key = item.text("key", notes).unwrap_or_default();
        let operator = match item.text("operator", notes).as_deref() {
            Some("In") => Operator::In,
            Some("NotIn") => Operator::NotIn,
            Some("Exists") => Operator::Exists,
            Some("DoesNotExist") => Operator::DoesNotExist,
            other => {
                let message = format!("`{}` is no operator of `matchExpressions`", other.unwrap_or(""));
                notes.left_out(Some(item.place()), message, "write `In`, `NotIn`, `Exists` or `DoesNotExist`");
                return None;
            }
        };
        Some(Self { key, operator, values: item.texts("values", notes) })
    }

    /// Returns `true` if the value of the key, if there is one, is as required.
    pub(super) fn holds(&self, value: Option<&Data>) -> bool {
        let is_one = || value.is_some_and(|value| self.values.contains(&text_of(value)));
        match self.operator {
            Operator::In => is_one(),
            Operator::NotIn => !is_one(),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }

    /// Returns the condition on the labels of a cluster, as CEL.
    pub(super) fn condition(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
        let label = format!("cluster.?metadata.?labels[?{}]", quoted(&self.key));
        let values: Vec<String> = self.values.iter().map(|value| quoted(value)).collect();
        let is_one = format!("{label}.orValue('') in [{}]", values.join(", "));
        match self.operator {
            Operator::In => is_one,
            Operator::NotIn => format!("!({is_one})"),
            Operator::Exists => format!("{label}.hasValue()"),
            Operator::DoesNotExist => format!("!{label}.hasValue()"),
        }
    }
}
