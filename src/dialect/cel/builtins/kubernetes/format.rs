//! Formats of names and other strings.

use crate::diagnostics::Result;
use crate::dialect::cel::values::capsules::{Content, FORMAT, capsule};
use crate::dialect::cel::values::errors::bad_argument;
use crate::dialect::cel::values::optional;
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::kubernetes_formats::Format;
use crate::value::Value;

overloads! {
    /// The library `format`.
    pub static TABLE:
    "format.named": "Returns an optional of the named format."
        ["format.named('dns1123Label').value().validate('a').hasValue()" => "false", "format.named('x').hasValue()" => "false"] {
        "format-named" (String) -> (optional "kubernetes.NamedFormat") = named;
    }
    "validate": "Returns an optional of the errors in a string; without a value if there are none."
        ["format.dns1123Label().validate('my-name').hasValue()" => "false",
         "format.dns1123Label().validate('a.b').value()" => "['must not contain dots']"] {
        "format-validate" member ("kubernetes.NamedFormat", String) -> (optional (list String)) = validate;
    }
    "format.dns1123Label": "DNS labels: at most 63 lowercase letters, digits and hyphens." ["format.dns1123Label().validate('A').hasValue()" => "true"] {
        "format.dns1123Label" () -> "kubernetes.NamedFormat" = dns1123_label;
    }
    "format.dns1123LabelPrefix": "Prefixes of DNS labels." ["format.dns1123LabelPrefix().validate('a-').hasValue()" => "false"] {
        "format.dns1123LabelPrefix" () -> "kubernetes.NamedFormat" = dns1123_label_prefix;
    }
    "format.dns1123Subdomain": "DNS subdomains: labels separated by dots." ["format.dns1123Subdomain().validate('apps.k8s.io').hasValue()" => "false"] {
        "format.dns1123Subdomain" () -> "kubernetes.NamedFormat" = dns1123_subdomain;
    }
    "format.dns1123SubdomainPrefix": "Prefixes of DNS subdomains." ["format.dns1123SubdomainPrefix().validate('a.b-').hasValue()" => "false"] {
        "format.dns1123SubdomainPrefix" () -> "kubernetes.NamedFormat" = dns1123_subdomain_prefix;
    }
    "format.dns1035Label": "DNS labels that begin with a letter." ["format.dns1035Label().validate('1a').hasValue()" => "true"] {
        "format.dns1035Label" () -> "kubernetes.NamedFormat" = dns1035_label;
    }
    "format.dns1035LabelPrefix": "Prefixes of DNS labels that begin with a letter." ["format.dns1035LabelPrefix().validate('a-').hasValue()" => "false"] {
        "format.dns1035LabelPrefix" () -> "kubernetes.NamedFormat" = dns1035_label_prefix;
    }
    "format.qualifiedName": "Names of labels and annotations." ["format.qualifiedName().validate('example.com/MyName').hasValue()" => "false"] {
        "format.qualifiedName" () -> "kubernetes.NamedFormat" = qualified_name;
    }
    "format.labelValue": "Values of labels." ["format.labelValue().validate('').hasValue()" => "false"] {
        "format.labelValue" () -> "kubernetes.NamedFormat" = label_value;
    }
    "format.uri": "URLs: absolute ones, and absolute paths." ["format.uri().validate('../a').hasValue()" => "true"] {
        "format.uri" () -> "kubernetes.NamedFormat" = uri;
    }
    "format.uuid": "UUIDs." ["format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()" => "false"] {
        "format.uuid" () -> "kubernetes.NamedFormat" = uuid;
    }
    "format.byte": "Base64." ["format.byte().validate('aGVsbG8=').hasValue()" => "false"] {
        "format.byte" () -> "kubernetes.NamedFormat" = byte;
    }
    "format.date": "Dates." ["format.date().validate('2021-02-30').value()" => "['invalid date']"] {
        "format.date" () -> "kubernetes.NamedFormat" = date;
    }
    "format.datetime": "Dates with times." ["format.datetime().validate('2021-01-01T00:00:00Z').hasValue()" => "false"] {
        "format.datetime" () -> "kubernetes.NamedFormat" = datetime;
    }
}

fn named<'v>(cx: &Cx<'v>, name: &'v str) -> Result<Value<'v>> {
    match Format::named(name) {
        Some(_) => optional::of(cx, capsule(cx, FORMAT, name)?),
        None => optional::none(cx),
    }
}

fn validate<'v>(cx: &Cx<'v>, format: Content<'v>, text: &'v str) -> Result<Value<'v>> {
    let Some(format) = Format::named(format.0) else { return Err(bad_argument("there is no such format")) };
    // Messages may quote the text.
    cx.charge(text.len() * 2)?;
    let errors = format.validate(text);
    if errors.is_empty() {
        return optional::none(cx);
    }
    let errors = errors.iter().map(|error| cx.text(error)).collect::<Result<Vec<_>>>()?;
    optional::of(cx, cx.list(&errors)?)
}

/// Declares bodies that return a format.
macro_rules! formats {
    ($($body:ident $name:literal;)*) => {
        $(fn $body<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
            capsule(cx, FORMAT, $name)
        })*
    };
}

formats! {
    dns1123_label "dns1123Label";
    dns1123_label_prefix "dns1123LabelPrefix";
    dns1123_subdomain "dns1123Subdomain";
    dns1123_subdomain_prefix "dns1123SubdomainPrefix";
    dns1035_label "dns1035Label";
    dns1035_label_prefix "dns1035LabelPrefix";
    qualified_name "qualifiedName";
    label_value "labelValue";
    uri "uri";
    uuid "uuid";
    byte "byte";
    date "date";
    datetime "datetime";
}
