//! The known inputs of the residuals in an artifact: a JSON object in clear.

use super::decoder::Decoder;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::{Data, DataMap};

/// Reads known inputs. There are none in an empty text.
pub(super) fn read(decoder: &mut Decoder<'_>) -> Result<Option<DataMap>> {
    match decoder.str()? {
        "" => Ok(None),
        text => parse(text).map(Some).ok_or_else(|| decoder.damaged("the known inputs are not a JSON object")),
    }
}

fn parse(text: &str) -> Option<DataMap> {
    serde_json::from_str::<dropforge_value::Data>(text).ok()?.into_map()
}

/// Writes known inputs.
///
/// # Errors
/// [`Code::InputType`] for a value that JSON does not have: an infinite number, or one that is none.
pub(super) fn text(known: &DataMap) -> Result<String> {
    let text = serde_json::to_string(&Data::Map(known.clone())).unwrap_or_default();
    if parse(&text).as_ref() == Some(known) {
        return Ok(text);
    }
    let exact = |value: &Data| parse(&format!("{{\"v\":{}}}", serde_json::to_string(value).ok()?))?.swap_remove("v");
    let bad = known.iter().find(|(_, value)| exact(value).as_ref() != Some(value));
    let name = bad.map_or("", |(name, _)| name);
    let message = format!("cannot specialise to `{name}`: an artifact holds only values that JSON has");
    Err(Diagnostic::new(Code::InputType, message))
}
