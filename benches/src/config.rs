//! HCL configurations: an infrastructure description to parse, and a long one of plain values to decode into Rust
//! types.

use std::fmt::Write;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use dropforge::dialect::hcl::body::{Context, File, from_body};
use dropforge::dialect::hcl::registry;
use dropforge::dialect::hcl::syntax::parser::parse_config;
use dropforge::dialect::hcl::syntax::tree::{BodyId, Tree};
use dropforge::function::Registry;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::vm::Space;
use serde::{Deserialize, Serialize};

use crate::engines::{Engine, Hcl, OursHcl};
use crate::subject::{Subject, Workload};

/// Parses the configuration of some cloud services.
pub fn parse() -> Workload {
    parsed("hcl-parse", "HCL: a configuration parsed, 40 services, 69 kB", vec![infrastructure(40)])
}

/// Parses the configurations of the conformance rows in `$CONFORMANCE_DIR`, if it is set. Files that hcl-rs cannot
/// parse are left out.
pub fn corpus() -> Option<Workload> {
    let folder = PathBuf::from(std::env::var_os("CONFORMANCE_DIR")?);
    let rows = std::fs::read_to_string(folder.join("hcl/corpus_files.jsonl")).ok()?;
    let rows = rows.lines().filter_map(|row| serde_json::from_str::<serde_json::Value>(row).ok());
    let sound = rows.filter(|row| row["kind"] == "config" && row["error_count"] == 0);
    let mut texts: Vec<String> = sound.filter_map(|row| Some(row["input"].as_str()?.to_owned())).collect();
    texts.retain(|text| hcl::parse(text).is_ok());
    let title = format!(
        "HCL: {} configurations parsed, {} kB",
        texts.len(),
        texts.iter().map(String::len).sum::<usize>() / 1000
    );
    Some(parsed("hcl-corpus", title.leak(), texts))
}

fn parsed(id: &'static str, title: &'static str, texts: Vec<String>) -> Workload {
    let mut theirs = ParsedByPeer(texts.clone());
    let sources = texts.iter().map(|text| Source::new("main.tf", text.as_str())).collect();
    let ours = Parsed { sources, limits: Limits::default() };
    let expected = theirs.output();
    Workload { id, title, expected, subjects: vec![Box::new(ours), Box::new(theirs)], bars: Vec::new() }
}

/// Decodes 10 MB of plain values into Rust types.
pub fn decode() -> Workload {
    let text = services(10_000_000);
    let mut theirs = DecodedByPeer(text.clone());
    let limits = Limits { source_bytes: text.len(), code_words: 1 << 26, memory: 1 << 30, ..Limits::default() };
    let ours = Decoded { source: Source::new("services.hcl", text), registry: registry(), limits };
    let (expected, title) = (theirs.output(), "HCL: a configuration of 10 MB as Rust types");
    Workload { id: "hcl-decode", title, expected, subjects: vec![Box::new(ours), Box::new(theirs)], bars: Vec::new() }
}

/// Generates a configuration with every infrastructure construct, repeated for each service.
fn infrastructure(services: usize) -> String {
    let mut text = String::from(HEAD);
    for n in 0..services {
        text += &SERVICE.replace("@name", &format!("service_{n}")).replace("@port", &(8000 + n).to_string());
    }
    text
}

const HEAD: &str = r#"# The services of one environment.
terraform {
  required_version = ">= 1.6"
  required_providers {
    cloud = { source = "acme/cloud", version = "~> 4.2" }
  }
}

provider "cloud" {
  region = var.region
}
"#;

const SERVICE: &str = r##"
// @name: what it needs and what runs it.
variable "@name_replicas" {
  description = "How many copies of @name there are; 0 switches it off"
  type        = number
  default     = 3

  validation {
    condition     = var.@name_replicas >= 0 && var.@name_replicas <= 64
    error_message = "From 0 to 64."
  }
}

locals {
  @name_tags  = merge(local.tags, { "Name" = "@name", "Tier" = var.env == "prod" ? "gold" : "best-effort" })
  @name_zones = [for zone in data.cloud_zones.all.names : zone if !contains(var.excluded, zone)]
  @name_hosts = { for zone in local.@name_zones : zone => "@name.${zone}.${var.domain}" }
}

resource "cloud_instance" "@name" {
  count         = var.@name_replicas > 0 ? var.@name_replicas : 0
  image         = data.cloud_image.base.id
  instance_type = var.sizes["@name"].type
  subnet_id     = element(module.network.subnets[*].id, count.index)
  tags          = local.@name_tags

  network_interface {
    security_groups = [cloud_security_group.@name.id, module.network.default_group]
    port            = @port
    public          = false
  }

  user_data = <<-EOT
    #!/bin/sh
    export NAME=@name-${count.index + 1}
    %{ for key, value in local.@name_tags ~}
    echo "${key}=${value}" >> /etc/tags
    %{ endfor ~}
    exec /usr/bin/@name --port @port --weight ${1.5 * (count.index + 1)}
  EOT

  lifecycle {
    create_before_destroy = true
    ignore_changes        = [image, tags["Updated"]]
  }
}

resource "cloud_security_group" "@name" {
  name = "${var.env}-@name"

  dynamic "ingress" {
    for_each = { for rule in var.rules : rule.name => rule }
    content {
      from_port = ingress.value.from
      to_port   = ingress.value.to
      blocks    = try(ingress.value.blocks, ["10.0.0.0/8"])
    }
  }
}

output "@name_addresses" {
  value     = cloud_instance.@name.*.private_ip
  sensitive = true # never printed
}
"##;

/// Generates blocks of plain values, at least this many bytes.
fn services(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 1024);
    let mut n = 0;
    while text.len() < bytes {
        let _ = write!(
            text,
            r#"
service "service-{n:06}" {{
  image    = "registry.example.com/team-{team}/service-{n:06}:1.{minor}.0"
  port     = {port}
  ratio    = 0.{ratio}
  enabled  = {enabled}
  hosts    = ["a{n}.example.com", "b{n}.example.com", "c{n}.example.com"]
  env      = {{ LOG_LEVEL = "info", REGION = "eu-west-{zone}", WORKERS = "{workers}" }}

  limits {{
    cpu    = {workers}
    memory = {memory}
  }}

  route {{
    path    = "/api/v{zone}/service-{n:06}"
    methods = ["GET", "POST"]
  }}

  route {{
    path    = "/healthz"
    methods = ["GET"]
  }}
}}
"#,
            team = n % 17,
            minor = n % 29,
            port = 1024 + n % 50_000,
            ratio = 1 + n % 9,
            enabled = n % 3 != 0,
            zone = 1 + n % 4,
            workers = 1 + n % 16,
            memory = 64 * (1 + n % 32),
        );
        n += 1;
    }
    text
}

/// Collects the names of a body's arguments and blocks.
fn outline(tree: &Tree, id: BodyId, out: &mut String) {
    let body = tree.body(id).expect("a body");
    for attribute in &body.attributes {
        let _ = writeln!(out, "{} =", tree.str(attribute.name));
    }
    for block in &body.blocks {
        let _ = write!(out, "{}", tree.str(block.name));
        out.extend(block.labels.iter().map(|label| format!(" {:?}", tree.str(label.text))));
        out.push_str(" {\n");
        outline(tree, block.body, out);
        out.push_str("}\n");
    }
}

fn outline_by_peer(body: &hcl::Body, out: &mut String) {
    for attribute in body.attributes() {
        let _ = writeln!(out, "{} =", attribute.key());
    }
    for block in body.blocks() {
        let _ = write!(out, "{}", block.identifier());
        out.extend(block.labels().iter().map(|label| format!(" {:?}", label.as_str())));
        out.push_str(" {\n");
        outline_by_peer(block.body(), out);
        out.push_str("}\n");
    }
}

struct Parsed {
    sources: Vec<Arc<Source>>,
    limits: Limits,
}

impl Subject for Parsed {
    fn engine(&self) -> &'static str {
        OursHcl::NAME
    }

    fn run(&mut self) {
        for source in &self.sources {
            black_box(parse_config(black_box(source), &self.limits));
        }
    }

    fn output(&mut self) -> String {
        let mut out = String::new();
        for source in &self.sources {
            let parsed = parse_config(source, &self.limits);
            assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
            outline(&parsed.tree, parsed.root, &mut out);
        }
        out
    }
}

struct ParsedByPeer(Vec<String>);

impl Subject for ParsedByPeer {
    fn engine(&self) -> &'static str {
        Hcl::NAME
    }

    fn run(&mut self) {
        for text in &self.0 {
            black_box(hcl::parse(black_box(text)).expect("a configuration"));
        }
    }

    fn output(&mut self) -> String {
        let mut out = String::new();
        self.0.iter().for_each(|text| outline_by_peer(&hcl::parse(text).expect("a configuration"), &mut out));
        out
    }
}

#[derive(Deserialize)]
struct Services<S> {
    service: S,
}

#[derive(Deserialize, Serialize)]
struct Service {
    #[serde(rename = "@name", default)]
    name: String,
    image: String,
    port: u16,
    ratio: f64,
    enabled: bool,
    hosts: Vec<String>,
    env: std::collections::BTreeMap<String, String>,
    limits: Resources,
    route: Vec<Route>,
}

#[derive(Deserialize, Serialize)]
struct Resources {
    cpu: u32,
    memory: u64,
}

#[derive(Deserialize, Serialize)]
struct Route {
    path: String,
    methods: Vec<String>,
}

/// Summarises the decoded services.
fn digest(services: &[Service]) -> String {
    let text = serde_json::to_string(services).expect("JSON");
    format!("{} services, {}", services.len(), blake3::hash(text.as_bytes()))
}

struct Decoded {
    source: Arc<Source>,
    registry: Registry,
    limits: Limits,
}

impl Decoded {
    fn decode(&self) -> Vec<Service> {
        let (file, space) = (File::native(black_box(&self.source), &self.registry, &self.limits), Space::new());
        let decoded = from_body::<Services<Vec<Service>>>(&file.body(), &Context::new(&space, &self.limits));
        decoded.unwrap_or_else(|errors| panic!("{errors}")).service
    }
}

impl Subject for Decoded {
    fn engine(&self) -> &'static str {
        OursHcl::NAME
    }

    fn run(&mut self) {
        black_box(self.decode());
    }

    fn output(&mut self) -> String {
        digest(&self.decode())
    }
}

struct DecodedByPeer(String);

impl DecodedByPeer {
    /// hcl-rs decodes labelled blocks to maps. The keys are copied into the values, as in our types.
    fn decode(&self) -> Vec<Service> {
        type Named = hcl::Map<String, Service>;
        let services: Services<Named> = hcl::from_str(black_box(&self.0)).expect("services");
        services.service.into_iter().map(|(name, service)| Service { name, ..service }).collect()
    }
}

impl Subject for DecodedByPeer {
    fn engine(&self) -> &'static str {
        Hcl::NAME
    }

    fn run(&mut self) {
        black_box(self.decode());
    }

    fn output(&mut self) -> String {
        digest(&self.decode())
    }
}
