//! Whether two trees are the same expression.

use super::tree::{Call, Expr, ExprId, Field, Literal, Name, Tree};

impl Tree {
    /// Whether two trees are the same but for their places: the same expression, expanded from the same macros.
    pub fn same_as(&self, other: &Tree) -> bool {
        let mut open = vec![(self.root, other.root)];
        while let Some((ours, theirs)) = open.pop() {
            if !self.same_node(ours, other, theirs) {
                return false;
            }
            let (mut left, mut right) = (Vec::new(), Vec::new());
            self.each_child(self.expr(ours), |child| left.push(child));
            other.each_child(other.expr(theirs), |child| right.push(child));
            if left.len() != right.len() {
                return false;
            }
            open.extend(left.into_iter().zip(right));
        }
        true
    }

    /// Whether two nodes are the same, their children aside.
    fn same_node(&self, ours: ExprId, other: &Tree, theirs: ExprId) -> bool {
        let same_name = |a: Name, b: Name| self.name(a) == other.name(b);
        let same = match (self.expr(ours), other.expr(theirs)) {
            (Expr::Invalid, Expr::Invalid) => true,
            (Expr::Literal(a), Expr::Literal(b)) => self.same_literal(a, other, b),
            (Expr::Ident { name: a, rooted }, Expr::Ident { name: b, rooted: too }) => same_name(a, b) && rooted == too,
            (Expr::Select { field: a, selection, .. }, Expr::Select { field: b, selection: too, .. }) => {
                same_name(a, b) && selection == too
            }
            (Expr::Call(a), Expr::Call(b)) => {
                let shape = |call: Call| (call.rooted, call.receiver.is_some(), call.args.len());
                self.function(a.function) == other.function(b.function) && shape(a) == shape(b)
            }
            (Expr::List(a), Expr::List(b)) => {
                let marks = |tree: &Tree, run| tree.elements(run).iter().map(|of| of.optional).collect::<Vec<_>>();
                marks(self, a) == marks(other, b)
            }
            (Expr::Map(a), Expr::Map(b)) => {
                let marks = |tree: &Tree, run| tree.entries(run).iter().map(|of| of.optional).collect::<Vec<_>>();
                marks(self, a) == marks(other, b)
            }
            (Expr::Message { name: a, fields: ours }, Expr::Message { name: b, fields: theirs }) => {
                let (ours, theirs) = (self.fields(ours), other.fields(theirs));
                let same = |(a, b): (&Field, &Field)| same_name(a.name, b.name) && a.optional == b.optional;
                same_name(a, b) && ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
            }
            (Expr::Comprehension(a), Expr::Comprehension(b)) => {
                let names = |tree: &Tree, id| {
                    let of = tree.comprehension(id)?;
                    let text = |name| tree.name(name).to_owned();
                    Some((text(of.iter_var), of.iter_var2.map(text), text(of.accu_var)))
                };
                names(self, a) == names(other, b)
            }
            _ => false,
        };
        same && self.macro_call(ours).is_some() == other.macro_call(theirs).is_some()
    }

    fn same_literal(&self, ours: Literal, other: &Tree, theirs: Literal) -> bool {
        match (ours, theirs) {
            (Literal::String(a), Literal::String(b)) => self.name(a) == other.name(b),
            (Literal::Bytes(a), Literal::Bytes(b)) => self.bytes(a) == other.bytes(b),
            (Literal::Double(a), Literal::Double(b)) => a.to_bits() == b.to_bits(),
            _ => ours == theirs,
        }
    }
}
