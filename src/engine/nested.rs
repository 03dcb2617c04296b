//! Rendering a template within the render of another.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::coverage;
use super::template::Template;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Builtin, Cx};
use dropforge_machine::vm::{Run, Session};
use dropforge_value::{Inputs, Value};

/// The memory of a nested render.
#[derive(Default)]
struct Memory {
    session: Session,
    text: String,
}

thread_local! {
    /// Memory of finished nested renders, for reuse.
    static SPARE: RefCell<Vec<Memory>> = RefCell::default();
}

impl Template {
    /// Wraps the template in a function that returns its text.
    pub(super) fn into_callee(self, name: &str) -> Builtin {
        Builtin::of_template(name.to_owned(), Arc::new(move |cx, inputs| self.render_within(cx, inputs)))
    }

    /// Renders within the caller's remaining budgets and with its capabilities.
    fn render_within<'v>(&self, cx: &Cx<'v>, inputs: Value<'v>) -> Result<Value<'v>> {
        let mut memory = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        memory.text.clear();
        let (program, linked) = self.parts();
        let (budgets, inputs, limits) = (Cell::new(cx.budgets()), Inputs::new(inputs), cx.limits());
        let run = Run { program, linked, inputs, limits, capabilities: cx.capabilities(), budgets: Some(&budgets) };
        let (session, out) = (&mut memory.session, &mut memory.text);
        let rendered = match coverage::current() {
            Some(coverage) => self.rendering(run).render(session, out, Some(&mut coverage.watch())),
            None => self.rendering(run).render(session, out, None),
        };
        cx.set_budgets(budgets.get());
        let text = rendered.and_then(|()| cx.text(&memory.text));
        SPARE.with_borrow_mut(|spare| spare.push(memory));
        text
    }
}
