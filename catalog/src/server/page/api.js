// A client of the service's REST API.

/** An error response of the service. */
export class Failure extends Error {
  constructor(status, { code, message, details }) {
    super(message);
    Object.assign(this, { status, code, details });
  }
}

async function failure(answer) {
  if (answer.status === 401) return new Failure(401, { code: "unauthorized", message: "Unknown key." });
  const text = await answer.text();
  try {
    return new Failure(answer.status, JSON.parse(text));
  } catch {
    return new Failure(answer.status, { code: "", message: text || `The service returned status ${answer.status}.` });
  }
}

const MAX_PAGE_SIZE = 1000;

export class Api {
  #key;

  constructor(key) {
    this.#key = key;
  }

  async #ask(method, path, body) {
    const headers = { Authorization: `Bearer ${this.#key}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const answer = await fetch(`/api/v1${path}`, { method, headers, body, cache: "no-store", credentials: "omit" });
    if (!answer.ok) throw await failure(answer);
    return answer;
  }

  async #json(method, path, body) {
    return (await this.#ask(method, path, body)).json();
  }

  /** Fetches all pages of a list. */
  async #pages(method, path) {
    const pages = [];
    let cursor = null;
    do {
      const answer = await this.#ask(method, `${path}?limit=${MAX_PAGE_SIZE}${cursor ? `&cursor=${cursor}` : ""}`);
      pages.push(await answer.json());
      cursor = answer.headers.get("x-next-cursor");
    } while (cursor);
    return pages;
  }

  async #all(path) {
    return (await this.#pages("GET", path)).flat();
  }

  who = () => this.#json("POST", "/auth/pak");
  templates = () => this.#all("/templates");
  stacks = () => this.#all("/stacks");
  generators = () => this.#all("/generators");
  labels = (id) => this.#json("GET", `/templates/${id}/labels`);
  annotations = (id) => this.#json("GET", `/templates/${id}/annotations`);

  /** Previews the changes of a version to all instances of its template, grouped by change. */
  async changes(id) {
    const pages = await this.#pages("POST", `/templates/${id}/changes`);
    const groups = new Map();
    for (const { instances, ...change } of pages.flatMap((page) => page.changes)) {
      const key = JSON.stringify(change);
      groups.set(key, { ...change, instances: [...(groups.get(key)?.instances ?? []), ...instances] });
    }
    const sum = (name) => pages.reduce((all, page) => all + page[name], 0);
    return { instances: sum("instances"), unchanged: sum("unchanged"), changes: [...groups.values()] };
  }

  /** Renders one set of parameters, given as JSON text, without storing anything. */
  async stamp(id, parameters, { stack, defaults }) {
    const fits = stack ? `"stack_id":${JSON.stringify(stack)},` : "";
    const body = `{"defaults":${defaults},"sets":[{${fits}"parameters":${parameters}}]}`;
    const answer = await this.#ask("POST", `/templates/${id}/stamp`, body);
    return JSON.parse((await answer.text()).split("\n")[0]);
  }

  instantiate(id, parameters, { stack, defaults }) {
    const body = `{"template_id":${JSON.stringify(id)},"parameters":${parameters}}`;
    return this.#json("POST", `/stacks/${stack}/deployment-objects/from-template?order=seed&defaults=${defaults}`, body);
  }
}
