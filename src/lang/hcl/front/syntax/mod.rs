//! The native syntax: lexer, parser, tree, and static analysis of trees.

pub mod analysis;
mod build;
pub mod lexer;
pub mod parser;
pub mod position;
pub mod token;
pub mod tree;

pub use analysis::{children, keyword, static_list};
pub(crate) use analysis::{function_name, static_call, static_map};
pub use lexer::{is_identifier, lex_config, scan_string_literal};
pub use parser::{Parsed, parse_config, parse_expression, parse_template};
pub use token::{Token, TokenKind};
pub use tree::{
    AccessStep, AttributeNode, BlockNode, BodyId, BodyNode, Call, Entry, Expr, ExprId, ExprNode, For, ForId, LabelNode,
    Operator, Run, StepKind, Str, Traversal, TraversalStep, Tree, UnaryOp,
};
