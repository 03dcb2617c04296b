//! The keywords of JSON Schema and the drafts that define them.

/// A draft of JSON Schema, or the subset for template values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// The subset for template values. A schema may be the name of a type, `required: true` is allowed in a property, and
    /// an unknown keyword is an error, because an ignored bound is worse than none.
    Template,
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12.
    Draft202012,
}

const T: u8 = 1 << Draft::Template as u8;
const D4: u8 = 1 << Draft::Draft4 as u8;
const D6: u8 = 1 << Draft::Draft6 as u8;
const D7: u8 = 1 << Draft::Draft7 as u8;
const D19: u8 = 1 << Draft::Draft201909 as u8;
const D20: u8 = 1 << Draft::Draft202012 as u8;
const SINCE_19: u8 = D19 | D20;
const SINCE_7: u8 = D7 | SINCE_19;
const SINCE_6: u8 = D6 | SINCE_7;
const DRAFTS: u8 = D4 | SINCE_6;

/// The keywords with a meaning, and the drafts that define them.
const KEYWORDS: &[(&str, u8)] = &[
    ("$comment", T),
    ("$defs", DRAFTS),
    ("$dynamicRef", D20),
    ("$id", DRAFTS),
    ("$recursiveRef", D19),
    ("$ref", DRAFTS),
    ("$schema", DRAFTS),
    ("additionalItems", D4 | D6 | D7 | D19),
    ("additionalProperties", T | DRAFTS),
    ("allOf", DRAFTS),
    ("anyOf", DRAFTS),
    ("const", T | SINCE_6),
    ("contains", SINCE_6),
    ("contentEncoding", D6 | D7),
    ("contentMediaType", D6 | D7),
    ("default", T | DRAFTS),
    ("definitions", DRAFTS),
    ("dependencies", DRAFTS),
    ("dependentRequired", SINCE_19),
    ("dependentSchemas", SINCE_19),
    ("deprecated", T),
    ("description", T),
    ("else", SINCE_7),
    ("enum", T | DRAFTS),
    ("examples", T),
    ("exclusiveMaximum", T | DRAFTS),
    ("exclusiveMinimum", T | DRAFTS),
    ("format", DRAFTS),
    ("if", SINCE_7),
    ("items", T | DRAFTS),
    ("maxContains", SINCE_19),
    ("maxItems", T | DRAFTS),
    ("maxLength", T | DRAFTS),
    ("maxProperties", DRAFTS),
    ("maximum", T | DRAFTS),
    ("minContains", SINCE_19),
    ("minItems", T | DRAFTS),
    ("minLength", T | DRAFTS),
    ("minProperties", DRAFTS),
    ("minimum", T | DRAFTS),
    ("multipleOf", DRAFTS),
    ("not", DRAFTS),
    ("oneOf", DRAFTS),
    ("pattern", T | DRAFTS),
    ("patternProperties", DRAFTS),
    ("prefixItems", D20),
    ("properties", T | DRAFTS),
    ("propertyNames", SINCE_6),
    ("required", T | DRAFTS),
    ("then", SINCE_7),
    ("title", T),
    ("type", T | DRAFTS),
    ("unevaluatedItems", SINCE_19),
    ("unevaluatedProperties", SINCE_19),
    ("uniqueItems", DRAFTS),
];

impl Draft {
    /// Returns the draft with this `$schema` URI.
    pub fn of_uri(uri: &str) -> Option<Self> {
        Some(match uri.strip_suffix('#').unwrap_or(uri) {
            "http://json-schema.org/draft-04/schema" => Self::Draft4,
            "http://json-schema.org/draft-06/schema" => Self::Draft6,
            "http://json-schema.org/draft-07/schema" => Self::Draft7,
            "https://json-schema.org/draft/2019-09/schema" => Self::Draft201909,
            "https://json-schema.org/draft/2020-12/schema" => Self::Draft202012,
            _ => return None,
        })
    }

    /// All keywords of the draft.
    pub fn keywords(self) -> impl Iterator<Item = &'static str> {
        KEYWORDS.iter().filter(move |(_, drafts)| drafts & (1 << self as u8) != 0).map(|(keyword, _)| *keyword)
    }

    /// Returns `true` if the draft defines `keyword`.
    pub(super) fn defines(self, keyword: &str) -> bool {
        let at = KEYWORDS.binary_search_by(|(known, _)| (*known).cmp(keyword));
        at.is_ok_and(|at| KEYWORDS.get(at).is_some_and(|(_, drafts)| drafts & (1 << self as u8) != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_for_the_search() {
        assert!(KEYWORDS.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(Draft::Draft202012.defines("prefixItems") && !Draft::Draft7.defines("prefixItems"));
        assert!(!Draft::Template.defines("format"));
    }
}
