//! The fields of an intent that may hold expressions, and their modes.
//!
//! The document is walked once, in order. Every string at an allowed path becomes a [`Field`]. Any other string or key
//! with `${` in it is forbidden, whatever other errors it has.

use std::sync::{Arc, OnceLock};

use crate::RenderMode;
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::Program;
use dropforge_value::Step;
use dropforge_value::yaml::{Kind, Node};

/// The purpose of a field, which decides the steps that it can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// `spec.controls.lock`
    Lock,
    /// `spec.resources[*].{name,namespace,path}`
    Resource,
    /// `spec.prerequisites[*].check.{path,url,command}`
    Prerequisite,
    /// `spec.runbook[i].exec.command`
    Command(usize),
    /// `spec.runbook[i].rollback.command`
    Rollback(usize),
    /// `spec.runbook[i].outputs[j].value`
    StepOutput(usize, usize),
    /// `spec.verify[*].check.{path,url,command}`
    Verify,
    /// `spec.outputs.<key>`, with the key
    Output(String),
}

impl Role {
    /// Returns the number of steps whose outputs this field can see, counted from the first, in a runbook of `steps`
    /// steps.
    pub fn visible_steps(&self, steps: usize) -> usize {
        match self {
            Role::Lock | Role::Resource | Role::Prerequisite => 0,
            Role::Command(step) | Role::StepOutput(step, _) => *step,
            Role::Rollback(step) => step + 1,
            Role::Verify | Role::Output(_) => steps,
        }
    }
}

/// A text that may hold expressions.
#[derive(Debug, Clone)]
pub struct Field {
    /// The path: `spec.runbook[0].exec.command`.
    pub path: String,
    /// The purpose.
    pub role: Role,
    /// The way values are inserted.
    pub mode: RenderMode,
    /// `true` if it is a command to run.
    pub is_command: bool,
    /// The text and its span.
    pub node: Node,
    /// The program, compiled on first use.
    pub(super) program: OnceLock<Result<Arc<Program>>>,
}

/// A finding of the walk.
#[derive(Debug, Clone)]
pub enum Item {
    /// A field.
    Field(Field),
    /// A text or key with a forbidden `${`: its path or that of the map with the key, the text and its span.
    Forbidden(String, Node),
    /// An unknown `render_mode`: its path and the value.
    BadMode(String, Node),
}

/// Returns the findings in document order.
pub fn walk(root: &Node) -> Vec<Item> {
    let mut walker = Walker { path: Vec::new(), items: Vec::new() };
    walker.node(root, None);
    walker.items
}

struct Walker<'n> {
    path: Vec<Step<&'n str>>,
    items: Vec<Item>,
}

impl<'n> Walker<'n> {
    /// Walks a node. The reader of the document has limited its depth.
    fn node(&mut self, node: &'n Node, explicit: Option<RenderMode>) {
        match &node.kind {
            Kind::Map(entries) => {
                let explicit = node.get("render_mode").and_then(Node::as_str).and_then(RenderMode::from_name);
                for entry in entries.iter() {
                    if entry.name.contains("${") {
                        // The field is the map: the key is no name.
                        let path = if self.path.is_empty() { entry.name.to_string() } else { self.path_text() };
                        self.items.push(Item::Forbidden(path, entry.key.clone()));
                    }
                    self.path.push(Step::Key(&entry.name));
                    self.node(&entry.value, explicit);
                    self.path.pop();
                }
            }
            Kind::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.path.push(Step::Index(at));
                    self.node(item, explicit);
                    self.path.pop();
                }
            }
            _ => self.scalar(node, explicit),
        }
    }

    fn scalar(&mut self, node: &Node, explicit: Option<RenderMode>) {
        let text = node.as_str();
        if let (Some(_), Some((role, mode))) = (text, self.role()) {
            let field = Field {
                path: self.path_text(),
                role,
                mode: explicit.unwrap_or(mode),
                is_command: mode == RenderMode::Shell,
                node: node.clone(),
                program: OnceLock::new(),
            };
            self.items.push(Item::Field(field));
        } else if text.is_some_and(|text| text.contains("${")) {
            self.items.push(Item::Forbidden(self.path_text(), node.clone()));
        } else if self.is_mode() && text.and_then(RenderMode::from_name).is_none() {
            self.items.push(Item::BadMode(self.path_text(), node.clone()));
        }
    }

    /// Returns the role and the default mode of a text at this path.
    fn role(&self) -> Option<(Role, RenderMode)> {
        use RenderMode::{Literal, Shell};
        use Step::{Index, Key};
        let [Key("spec"), path @ ..] = &*self.path else { return None };
        Some(match path {
            [Key("controls"), Key("lock")] => (Role::Lock, Literal),
            [Key("resources"), Index(_), Key("name" | "namespace" | "path")] => (Role::Resource, Literal),
            [Key("prerequisites"), Index(_), Key("check"), Key("path" | "url")] => (Role::Prerequisite, Literal),
            [Key("prerequisites"), Index(_), Key("check"), Key("command")] => (Role::Prerequisite, Shell),
            [Key("verify"), Index(_), Key("check"), Key("path" | "url")] => (Role::Verify, Literal),
            [Key("verify"), Index(_), Key("check"), Key("command")] => (Role::Verify, Shell),
            [Key("runbook"), Index(step), Key("exec"), Key("command")] => (Role::Command(*step), Shell),
            [Key("runbook"), Index(step), Key("rollback"), Key("command")] => (Role::Rollback(*step), Shell),
            [Key("runbook"), Index(step), Key("outputs"), Index(output), Key("value")] => {
                (Role::StepOutput(*step, *output), Literal)
            }
            [Key("outputs"), Key(key)] | [Key("outputs"), Key(key), Index(_)] if *key != "render_mode" => {
                (Role::Output((*key).to_owned()), Literal)
            }
            _ => return None,
        })
    }

    /// Returns `true` if this is the path of a `render_mode` next to a field.
    fn is_mode(&self) -> bool {
        use Step::{Index, Key};
        let [Key("spec"), path @ .., Key("render_mode")] = &*self.path else { return false };
        matches!(
            path,
            [Key("controls" | "outputs")]
                | [Key("resources"), Index(_)]
                | [Key("prerequisites" | "verify"), Index(_), Key("check")]
                | [Key("runbook"), Index(_), Key("exec" | "rollback")]
                | [Key("runbook"), Index(_), Key("outputs"), Index(_)]
        )
    }

    fn path_text(&self) -> String {
        Step::joined(&self.path)
    }
}
