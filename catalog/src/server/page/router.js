// Addresses. A click on a link of this page changes the address and the view without loading the page again.

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A part of a path as a parameter. IDs are put into addresses of the service, so they must be IDs. */
function parameter(name, part) {
  const text = decodeURIComponent(part);
  if (name === "id" && !ID.test(text)) throw new URIError("not an ID");
  return text;
}

/** Matches a path with a pattern such as `/templates/:id`. Returns the parameters, or null. */
function match(pattern, path) {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return null;
  const params = {};
  for (const [index, part] of wanted.entries()) {
    if (!part.startsWith(":")) {
      if (part !== given[index]) return null;
    } else {
      try {
        params[part.slice(1)] = parameter(part.slice(1), given[index]);
      } catch {
        return null;
      }
    }
  }
  return params;
}

/** The view of the current address, with its parameters and query. */
export function current(routes) {
  const path = location.pathname.replace(/(.)\/$/, "$1");
  for (const [pattern, view] of routes) {
    const params = match(pattern, path);
    if (params) return { view, params, query: Object.fromEntries(new URLSearchParams(location.search)) };
  }
  return null;
}

/** A path from segments of any text, with the given query. */
export function address(segments, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value);
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
  return `/${segments.map(encodeURIComponent).join("/")}${search}`;
}

let show = () => {};
let shown = "";
const here = () => location.pathname + location.search;

/** Remembers how far the page is scrolled, for Back. */
const remember = () => history.replaceState({ ...history.state, top: scrollY }, "");

/** Goes to an address. `say` is a message to show there. */
export function go(to, { say = "" } = {}) {
  remember();
  history.pushState({}, "", to);
  shown = here();
  return show({ moved: true, top: 0, say });
}

/** Changes the address without changing the view. */
export function rename(to) {
  history.replaceState(history.state, "", to);
  shown = here();
}

/** Follows links, Back and Forward. */
export function listen(shower) {
  show = shower;
  shown = here();
  history.scrollRestoration = "manual";
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest("a[href^='/']");
    const special = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.defaultPrevented;
    if (!anchor || special || anchor.target || anchor.hasAttribute("download") || anchor.pathname.startsWith("/api/")) return;
    event.preventDefault();
    go(anchor.getAttribute("href"));
  });
  addEventListener("popstate", (event) => {
    // A link within the view changes only the fragment.
    if (here() === shown) return;
    shown = here();
    show({ moved: true, top: event.state?.top ?? 0, say: "" });
  });
}
