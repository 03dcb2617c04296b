// Signing in: the product, the key, and where a key comes from.

import { h, labelled, once } from "./dom.js";
import { command } from "./code.js";

export function signInView(enter) {
  const key = h("input", { id: "key", type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const wrong = h("p", { class: "error", role: "alert" });
  const form = h("form", {
    onsubmit: once(async () => {
      wrong.textContent = "";
      try {
        await enter(key.value.trim());
      } catch (error) {
        wrong.textContent = error.message;
        key.focus();
      }
    }),
  }, labelled("Key", key, "Stays in this tab and is forgotten when the tab closes."), wrong, h("button", { class: "primary" }, "Sign in"));
  return {
    title: "Sign in",
    content: [h("section", { class: "panel narrow" },
      h("h1", {}, "Sign in to dropforge"),
      h("p", {}, "The catalog of templates: find one, fill it in, see the result, and deploy it."),
      form,
      h("h2", {}, "Where a key comes from"),
      command("dropforge serve --init admin.key", "The first key is an administrator’s. The service writes it to a file when it starts:"),
      h("p", { class: "hint" }, "An administrator makes further keys on the page “Keys” or with a command. For a team, with its own templates and stacks:"),
      command("dropforge catalog generator create TEAM"),
      command("dropforge catalog key create --role readonly", "For reading everything:"))],
  };
}
