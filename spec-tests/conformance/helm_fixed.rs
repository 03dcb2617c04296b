//! The functions that the reference ran with fixed results: those of random numbers, keys and certificates, and the clock.

use std::time::{Duration, SystemTime};

use dropforge::engine::{Capabilities, Dialect, Engine, EngineBuilder};
use dropforge::function::HostArgs;
use dropforge::value::Data;

/// The clock: 2024-01-02T03:04:05Z.
const NOW: u64 = 1_704_164_645;

/// Returns an engine with these functions.
pub fn engine() -> Engine {
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
    let builder = Engine::builder().allow(Capabilities::ALL.with_moment(moment));
    certificates(passwords(random(builder))).build()
}

fn random(mut builder: EngineBuilder) -> EngineBuilder {
    let texts = [
        ("randAlphaNum", "a1B2c3D4e5"),
        ("randAlpha", "aBcDeFgHiJ"),
        ("randNumeric", "1234567890"),
        ("randAscii", "a!B2c#D4e%"),
    ];
    for (name, text) in texts {
        let body = move |count: usize| text.chars().cycle().take(count).collect::<String>();
        builder = builder.function(Dialect::Helm, name, body);
    }
    builder
        .function(Dialect::Helm, "randBytes", |count: usize| base64(&vec![0; count]))
        .function(Dialect::Helm, "randInt", |least: i64, _: i64| least)
        .function(Dialect::Helm, "uuidv4", || "00000000-0000-4000-8000-000000000000")
        .function(Dialect::Helm, "shuffle", |text: String| text)
}

fn passwords(builder: EngineBuilder) -> EngineBuilder {
    builder
        .function(Dialect::Helm, "htpasswd", |user: &str, password: &str| format!("{user}:$2a$10$FIXED.{password}"))
        .function(Dialect::Helm, "bcrypt", |password: &str| format!("$2a$10$FIXED.{password}"))
        .function(Dialect::Helm, "genPrivateKey", |kind: &str| {
            let kind = kind.to_uppercase();
            format!("-----BEGIN {kind} PRIVATE KEY-----\nRklYRUQ=\n-----END {kind} PRIVATE KEY-----\n")
        })
}

fn certificates(mut builder: EngineBuilder) -> EngineBuilder {
    for (name, kind, count) in [
        ("genCA", "ca", 2),
        ("genSelfSignedCert", "self", 4),
        ("genSignedCert", "signed", 4),
        ("genCAWithKey", "ca", 2),
        ("genSelfSignedCertWithKey", "self", 4),
        ("genSignedCertWithKey", "signed", 4),
    ] {
        let body = move |args: &HostArgs| {
            let args: Vec<Data> = args.positional().iter().take(count).map(|value| value.to_data()).collect();
            let content = base64(format!("{kind}:{}", sprint(&args.iter().collect::<Vec<_>>())).as_bytes());
            let frame = |kind: &str| format!("-----BEGIN {kind}-----\n{content}\n-----END {kind}-----\n");
            serde_json::json!({ "Cert": frame("CERTIFICATE"), "Key": frame("RSA PRIVATE KEY") })
        };
        builder = builder.function(Dialect::Helm, name, body);
    }
    builder.function(
        Dialect::Helm,
        "buildCustomCert",
        |cert: &str, key: &str| serde_json::json!({ "Cert": decoded(cert), "Key": decoded(key) }),
    )
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn decoded(text: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns values as `fmt.Sprint` prints them: with a space between two that are no texts.
fn sprint(values: &[&Data]) -> String {
    let mut out = String::new();
    for (at, value) in values.iter().enumerate() {
        let is_text = |value: &Data| matches!(value, Data::Str(_));
        if at > 0 && !is_text(value) && !is_text(values[at - 1]) {
            out.push(' ');
        }
        out.push_str(&printed(value));
    }
    out
}

fn printed(value: &Data) -> String {
    match value {
        // The parameters that may be nil are lists.
        Data::Null => "[]".into(),
        Data::Bool(truth) => truth.to_string(),
        Data::Int(n) => n.to_string(),
        Data::Uint(n) => n.to_string(),
        Data::Float(n) => n.to_string(),
        Data::Number(text) => text.to_string(),
        Data::Str(text) => text.clone(),
        Data::List(items) => format!("[{}]", items.iter().map(printed).collect::<Vec<_>>().join(" ")),
        Data::Map(map) => {
            let entries: Vec<_> = map.iter().map(|(key, value)| format!("{key}:{}", printed(value))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}
