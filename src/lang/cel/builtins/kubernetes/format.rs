//! Formats of names and other strings.

use crate::values::capsules::{Content, FORMAT, capsule};
use crate::values::errors::bad_argument;
use crate::values::optional;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::kubernetes_formats::Format;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

/// Declares the table with a function for each format.
macro_rules! table {
    ($($function:literal $name:literal: $doc:literal $examples:tt;)*) => {
        overloads! {
            /// The library `format`.
            pub static TABLE:
            "format.named": "Returns an optional of the named format."
                ["format.named('dns1123Label').value().validate('a').hasValue()" => "false", "format.named('x').hasValue()" => "false"]
                fn "format-named" (String) -> (optional "kubernetes.NamedFormat") = named;
            "validate": "Returns an optional of the errors in a string; without a value if there are none."
                ["format.dns1123Label().validate('my-name').hasValue()" => "false",
                 "format.dns1123Label().validate('a.b').value()" => "['must not contain dots']"]
                fn "format-validate" member ("kubernetes.NamedFormat", String) -> (optional (list String)) = validate;
            $($function: $doc $examples
                fn $function () -> "kubernetes.NamedFormat" = format_named($name);
            )*
        }
    };
}

table! {
    "format.dns1123Label" "dns1123Label": "DNS labels: at most 63 lowercase letters, digits and hyphens."
        ["format.dns1123Label().validate('A').hasValue()" => "true"];
    "format.dns1123LabelPrefix" "dns1123LabelPrefix": "Prefixes of DNS labels." ["format.dns1123LabelPrefix().validate('a-').hasValue()" => "false"];
    "format.dns1123Subdomain" "dns1123Subdomain": "DNS subdomains: labels separated by dots."
        ["format.dns1123Subdomain().validate('apps.k8s.io').hasValue()" => "false"];
    "format.dns1123SubdomainPrefix" "dns1123SubdomainPrefix": "Prefixes of DNS subdomains."
        ["format.dns1123SubdomainPrefix().validate('a.b-').hasValue()" => "false"];
    "format.dns1035Label" "dns1035Label": "DNS labels that begin with a letter." ["format.dns1035Label().validate('1a').hasValue()" => "true"];
    "format.dns1035LabelPrefix" "dns1035LabelPrefix": "Prefixes of DNS labels that begin with a letter."
        ["format.dns1035LabelPrefix().validate('a-').hasValue()" => "false"];
    "format.qualifiedName" "qualifiedName": "Names of labels and annotations."
        ["format.qualifiedName().validate('example.com/MyName').hasValue()" => "false"];
    "format.labelValue" "labelValue": "Values of labels." ["format.labelValue().validate('').hasValue()" => "false"];
    "format.uri" "uri": "URLs: absolute ones, and absolute paths." ["format.uri().validate('../a').hasValue()" => "true"];
    "format.uuid" "uuid": "UUIDs." ["format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()" => "false"];
    "format.byte" "byte": "Base64." ["format.byte().validate('aGVsbG8=').hasValue()" => "false"];
    "format.date" "date": "Dates." ["format.date().validate('2021-02-30').value()" => "['invalid date']"];
    "format.datetime" "datetime": "Dates with times." ["format.datetime().validate('2021-01-01T00:00:00Z').hasValue()" => "false"];
}

fn format_named<'v>(name: &'static str) -> impl Fn(&Cx<'v>) -> Result<Value<'v>> {
    move |cx| capsule(cx, FORMAT, name)
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
