//! `hcl` rows, dispatched by kind.

mod decoding;
mod defaults;
mod editing;
pub mod encoding;
mod evaluation;
mod formatting;
mod function;
mod json_syntax;
mod json_values;
mod lexing;
mod operations;
pub mod specsuite;
mod syntax;
mod type_expressions;
mod typing;

use std::path::Path;

use dropforge::dialect::hcl::values::json::Json;

use crate::report::Outcome;
use crate::specialised;
use encoding::{Check, Row};

/// Runs the rows of a file.
pub fn run_file(path: &Path) -> Vec<(String, Outcome)> {
    let text = std::fs::read_to_string(path).expect("the rows can be read");
    let rows = text.lines().filter(|line| !line.trim().is_empty());
    rows.map(|line| {
        let row = Row(Json::read(line, 512).expect("a row is JSON"));
        (row.text("id").expect("a row has an id").to_owned(), run_row(&row))
    })
    .collect()
}

fn run_row(row: &Row<'_>) -> Outcome {
    let kind = row.text("kind").expect("a row has a kind");
    if let Some(why) = no_row_for_us(kind).or_else(|| no_run_for_us(kind, row)) {
        return Outcome::Skip(format!("{kind}: {why}"));
    }
    match run_kind(kind, row) {
        Some(Ok(())) if matches!(kind, "expression" | "template") => {
            specialised::also(Outcome::Pass, || evaluation::specialised(row))
        }
        Some(Ok(())) => Outcome::Pass,
        Some(Err(why)) => Outcome::Fail(why),
        None => Outcome::Skip(format!("{kind}: not run yet")),
    }
}

/// Runs a row. Returns `None` if its kind is not supported.
fn run_kind(kind: &str, row: &Row<'_>) -> Option<Check> {
    let run: fn(&Row<'_>) -> Check = match kind {
        "convert" | "typeexpr_convert" => typing::converts,
        "convert:CompareTypes" => typing::compares,
        "convert:ConvertCapsuleType" => typing::converts_capsule,
        "convert:SortTypes" => typing::sorts,
        "cty:HasDynamicTypes" => typing::has_dynamic,
        "cty:HasWhollyKnownType" => typing::known_type,
        "cty:ObjectTypeEquals" | "cty:TupleTypeEquals" => typing::type_equals,
        "cty:TypeIsPrimitiveType" => typing::is_primitive,
        "cty:TypeTestConformance" => typing::conformance,
        "cty:WithoutOptionalAttributesDeep" => typing::required,
        "expression" => |row| syntax::parse(row).and_then(|()| evaluation::expression(row)),
        "template" => |row| syntax::parse(row).and_then(|()| evaluation::template(row)),
        "traversal" => syntax::traversal,
        "NameSuggestion" => syntax::suggestion,
        "cty:TypeJSONable" => json_values::types,
        "defaults_apply" => defaults::applies,
        "json:ImpliedType" => json_values::implied_types,
        "json:ImpliedTypeErrors" => json_values::implied_type_errors,
        "json:SimpleJSONValue" => json_values::plain,
        "json:ValueJSONable" => json_values::typed,
        "json_scan" => json_syntax::tokens,
        "json_parse" => json_syntax::tree,
        "json_KeywordSuggestion" => json_syntax::keyword,
        "json_content" => json_syntax::content,
        "json_partial_content" => json_syntax::partial_content,
        "json_just_attributes" => json_syntax::just_attributes,
        "json_variables" => json_syntax::variables,
        "json_expression" => json_syntax::expression,
        "json_body_attr_v" => json_syntax::attribute,
        "json_config" => json_syntax::config,
        "mismatch_message" => typing::mismatches,
        "type_string" => type_expressions::texts,
        "call" => evaluation::call,
        "typeexpr" => type_expressions::types,
        "typeexpr_json" => type_expressions::json_types,
        "typeexpr_defaults" => type_expressions::defaults,
        "unify" => typing::unifies,
        "tokens" => lexing::tokens,
        "tokens_template" => lexing::template_tokens,
        "scan_string_lit" => lexing::literal_pieces,
        "ValidIdentifier" => lexing::identifier,
        "CheckInvalidTokensTest" => lexing::invalid_tokens,
        "hcl:PosScanner" => lexing::lines,
        "hcl:RangeOver" => lexing::range_over,
        "hcl:PosOverlap" => lexing::range_overlap,
        "hcl:RangePartitionAround" => lexing::range_partition,
        "hcldec" => decoding::decodes,
        "hcldec_source_range" => decoding::source_range,
        "hcldec_variables" => decoding::names_variables,
        "hcl:MergedBodiesContent" => decoding::merges,
        "hcl:MergeBodiesPartialContent" => decoding::merges_partly,
        "userfunc" => decoding::user_function,
        "format" => formatting::laid_out,
        "hclwrite:BlockType" => editing::block_type,
        "hclwrite:BlockLabels" => editing::block_labels,
        "hclwrite:BlockSetType" => editing::set_block_type,
        "hclwrite:BlockSetLabels" => editing::set_block_labels,
        "hclwrite:BodyGetAttribute" => editing::attribute,
        "hclwrite:BodyFirstMatchingBlock" => editing::matching_block,
        "hclwrite:BodySetAttributeValue" => editing::set_value,
        "hclwrite:BodySetAttributeTraversal" => editing::set_traversal,
        "hclwrite:BodySetAttributeRaw" => editing::set_raw,
        "hclwrite:BodySetAttributeValueInBlock" => editing::set_in_block,
        "hclwrite:BodySetAttributeValueInNestedBlock" => editing::set_in_nested_block,
        "hclwrite:BodyRemoveAttribute" => editing::remove,
        "hclwrite:BodyRenameAttribute" => editing::rename,
        "hclwrite:BodyAppendBlock" => editing::append_block,
        "hclwrite:TokensForValue" => editing::of_value,
        "hclwrite:TokensForTraversal" => editing::of_traversal,
        "hclwrite:TokensForTuple" => editing::of_tuple,
        "hclwrite:TokensForObject" => editing::of_object,
        "hclwrite:TokensForFunctionCall" => editing::of_call,
        "hclwrite:TokenGenerateConsistency" => editing::consistent,
        "config" if row.get("formatted").is_some() => |row| syntax::config(row).and_then(|()| formatting::file(row)),
        "config" => syntax::config,
        "function" => function::run,
        _ => operations::runner(kind)?,
    };
    Some(run(row))
}

/// Returns the reason for skipping all rows of this kind.
fn no_row_for_us(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "navigation" | "at_pos" | "walk" | "json_NavigationContextString" => "asks for editor navigation of the Go API",
        "json_attribute" | "variables_ast" | "hcl:AbsTraversalForExpr" | "hcl:RelTraversalForExpr" => {
            "the input is a Go structure that the row does not hold"
        }
        "hcl:ExprAsKeyword" => "the input is a Go structure that the row does not hold",
        "hcl:DiagnosticTextWriter" => "asks for the words of the Go printer",
        "cty:ValueRefine" | "cty:ValueWrangleMarksDeep" | "function:ReturnTypeForValues" => {
            "the row holds a Go closure"
        }
        "cty:TypeGoString" | "cty:ValueGoString" => "asks for Go source text",
        "cty:SetHashBytes" | "cty:SetRulesSameRules" | "cty:Marks" => "asks for the inside of a Go type",
        _ => return None,
    })
}

/// Returns the reason for skipping this row of a supported kind.
fn no_run_for_us(kind: &str, row: &Row<'_>) -> Option<&'static str> {
    match kind {
        "function" => function::not_for_us(row),
        "convert:ConvertCapsuleType" if row.get("Want").is_some() => Some("asks for conversions that are Go closures"),
        "json:ValueJSONable" if row.get("Value").is_some_and(|value| value.get("capsule").is_some()) => {
            Some("the value is a Go byte slice")
        }
        _ => None,
    }
}
