// The page: signing in and out, and the view of the current address. The key stays in this tab until it closes.

import { Failure } from "./api.js";
import { auditView } from "./audit.js";
import { byId, h, link } from "./dom.js";
import { newTemplateView } from "./edit.js";
import { keysView } from "./keys.js";
import { objectView } from "./object.js";
import { current, listen } from "./router.js";
import { Session } from "./session.js";
import { signInView } from "./signin.js";
import { stackView } from "./stack.js";
import { stacksView } from "./stacks.js";
import { namedView, templateView } from "./template.js";
import { templatesView } from "./templates.js";
import { sentence } from "./words.js";

const KEY = "dropforge.key";
const ROUTES = [
  ["/", templatesView],
  ["/templates", templatesView],
  ["/templates/new", newTemplateView],
  ["/templates/:id", templateView],
  ["/templates/:owner/:name", namedView],
  ["/stacks", stacksView],
  ["/stacks/:id", stackView],
  ["/objects/:id", objectView],
  ["/keys", keysView],
  ["/audit", auditView],
];

/** The place in the menu of addresses that do not begin with it. */
const PARENTS = { "": "/templates", objects: "/stacks" };

let session = null;
let turn = 0;

function tell(text, kind = "bad") {
  byId("message").className = kind;
  byId("message").textContent = text;
}

/** Shows an error. An unknown key ends the session, but not the address. */
function failed(error) {
  if (session && error instanceof Failure && error.status === 401) return leave("This key is no longer valid. Sign in again.");
  tell(error.message || String(error));
  return undefined;
}

/** A view for an address that cannot be shown. */
function problemView(error) {
  const missing = error instanceof Failure && error.status === 404;
  const [title, text] = missing ? ["Not found", "It was deleted, or the address is wrong."] : ["This cannot be shown", ""];
  return {
    title,
    content: [h("h1", {}, title), h("p", {}, sentence(error.message.replace(/\.$/, ""))), text && h("p", {}, text), h("p", {}, link("/", "All templates"))],
  };
}

async function viewed() {
  const found = current(ROUTES);
  try {
    if (!found) throw new Failure(404, { message: `there is nothing at ${location.pathname}` });
    return await found.view(session, found.params, found.query);
  } catch (error) {
    if (error instanceof Failure && error.status === 401) throw error;
    return problemView(error);
  }
}

/** Shows the view of the address. `moved` is true if the reader went there, which moves the focus. */
async function show({ moved = false, top = 0, say = "" } = {}) {
  turn += 1;
  const mine = turn;
  if (!session) return signIn(moved);
  byId("main").setAttribute("aria-busy", "true");
  let view;
  try {
    view = await viewed();
  } catch (error) {
    return mine === turn ? failed(error) : undefined;
  }
  if (mine !== turn) return undefined;
  tell(say, "good");
  place(view);
  scrollTo(0, top);
  if (moved) focusOn(view.focus ?? "h1");
  return undefined;
}

function place({ title, content, wide = false }) {
  document.title = `${title} · dropforge`;
  const main = byId("main");
  main.replaceChildren(...content.flat(Infinity).filter(Boolean));
  main.className = wide ? "wide" : "";
  main.removeAttribute("aria-busy");
  for (const anchor of byId("places").children) {
    const inside = location.pathname.startsWith(anchor.pathname) || anchor.pathname === PARENTS[location.pathname.split("/")[1]];
    anchor.toggleAttribute("aria-current", inside);
    if (inside) anchor.setAttribute("aria-current", "page");
  }
}

function focusOn(selector) {
  const target = byId("main").querySelector(selector) ?? byId("main").querySelector("h1") ?? byId("main");
  if (!target.matches("a, button, input, select, textarea")) target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
}

function signIn(moved) {
  const enter = async (key) => {
    const opened = await Session.open(key, failed);
    if (opened.role === "agent") throw new Failure(403, { message: "This key belongs to an agent. Agents fetch objects and cannot use this page." });
    sessionStorage.setItem(KEY, key);
    inside(opened);
    await show({ moved: true });
  };
  place(signInView(enter));
  if (moved) focusOn("input");
}

function inside(opened) {
  session = opened;
  byId("who").hidden = !session;
  byId("places").hidden = !session;
  if (!session) return;
  byId("role").textContent = session.role;
  const places = [["/templates", "Templates"], ["/stacks", "Stacks"], ...(session.who.admin ? [["/keys", "Keys"], ["/audit", "Audit"]] : [])];
  byId("places").replaceChildren(...places.map(([to, name]) => link(to, name)));
}

function leave(text = "") {
  sessionStorage.removeItem(KEY);
  inside(null);
  show({ moved: true });
  tell(text);
}

async function start() {
  listen(show);
  byId("leave").addEventListener("click", () => leave());
  const kept = sessionStorage.getItem(KEY);
  if (!kept) return show();
  try {
    inside(await Session.open(kept, failed));
  } catch (error) {
    if (error.status === 401) sessionStorage.removeItem(KEY);
    await show();
    return tell(error.message);
  }
  return show();
}

start();
