// Included by the tests of several crates, which name the types of the tree by different paths.

/// The contents of a node except its children.
type Label<'t> = (std::mem::Discriminant<Expr>, Vec<&'t str>, Vec<bool>, String);

/// Returns `true` if two trees are the same expression, expanded from the same macros. Positions do not count.
pub fn same_tree(one: &Tree, other: &Tree) -> bool {
    let mut open = vec![(one.root, other.root)];
    while let Some((left, right)) = open.pop() {
        let (children, others) = (children(one, left), children(other, right));
        if label(one, left) != label(other, right) || children.len() != others.len() {
            return false;
        }
        open.extend(children.into_iter().zip(others));
    }
    true
}

fn children(tree: &Tree, id: ExprId) -> Vec<ExprId> {
    let mut children = Vec::new();
    tree.each_child(tree.expr(id), |child| children.push(child));
    children
}

fn label(tree: &Tree, id: ExprId) -> Label<'_> {
    let expr = tree.expr(id);
    let (mut names, mut marks) = (Vec::new(), vec![tree.macro_call(id).is_some()]);
    let mut literal = String::new();
    match expr {
        Expr::Invalid => {}
        Expr::Literal(of) => literal = literal_label(tree, of),
        Expr::Ident { name, rooted } => {
            names.push(tree.name(name));
            marks.push(rooted);
        }
        Expr::Select { field, selection, .. } => {
            names.push(tree.name(field));
            marks.extend([selection == Selection::Optional, selection == Selection::Test]);
        }
        Expr::Call(call) => {
            names.push(tree.function(call.function));
            marks.extend([call.rooted, call.receiver.is_some()]);
        }
        Expr::List(run) => marks.extend(tree.elements(run).iter().map(|element| element.optional)),
        Expr::Map(run) => marks.extend(tree.entries(run).iter().map(|entry| entry.optional)),
        Expr::Message { name, fields } => {
            names.push(tree.name(name));
            names.extend(tree.fields(fields).iter().map(|field| tree.name(field.name)));
            marks.extend(tree.fields(fields).iter().map(|field| field.optional));
        }
        Expr::Comprehension(of) => {
            let of = tree.comprehension(of).expect("a comprehension of the tree");
            names.extend([Some(of.iter_var), of.iter_var2, Some(of.accu_var)].into_iter().flatten().map(|of| tree.name(of)));
        }
    }
    (std::mem::discriminant(&expr), names, marks, literal)
}

fn literal_label(tree: &Tree, literal: Literal) -> String {
    match literal {
        Literal::String(text) => format!("{:?}", tree.name(text)),
        Literal::Bytes(run) => format!("b{:?}", tree.bytes(run)),
        other => format!("{other:?}"),
    }
}
