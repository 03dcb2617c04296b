//! A template that is rendered within the render of another.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::instance;
use super::template::Template;
use crate::diagnostics::Result;
use crate::function::{Builtin, Cx};
use crate::value::{Inputs, Value};
use crate::vm::{NoHooks, Run, Session};

/// What a render within another needs for itself.
#[derive(Default)]
struct Room {
    session: Session,
    text: String,
}

thread_local! {
    /// What renders within others have left; the innermost ends first.
    static ROOMS: RefCell<Vec<Room>> = RefCell::default();
}

impl Template {
    /// The template as what programs call: it gives its text.
    pub(super) fn into_callee(self, name: &str) -> Builtin {
        Builtin::of_template(name.to_owned(), Arc::new(move |cx, inputs| self.render_within(cx, inputs)))
    }

    /// The text with these inputs. What is left of the caller's budgets is what there is, and its capabilities are.
    fn render_within<'v>(&self, cx: &Cx<'v>, inputs: Value<'v>) -> Result<Value<'v>> {
        let mut room = ROOMS.with_borrow_mut(Vec::pop).unwrap_or_default();
        room.text.clear();
        let (program, linked) = self.parts();
        let (budgets, inputs, limits) = (Cell::new(cx.budgets()), Inputs::new(inputs), cx.limits());
        let run = Run { program, linked, inputs, limits, capabilities: cx.capabilities(), budgets: Some(&budgets) };
        let rendered = instance::render(&mut room.session, run, self.format(), &mut room.text, &mut NoHooks);
        cx.set_budgets(budgets.get());
        let text = rendered.and_then(|()| cx.text(&room.text));
        ROOMS.with_borrow_mut(|rooms| rooms.push(room));
        text
    }
}
