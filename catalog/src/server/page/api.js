// A client of the service's REST API.

/** An error response of the service. `retry` is the number of seconds after which the request may succeed, if known. */
export class Failure extends Error {
  constructor(status, { code, message, details }, retry = null) {
    super(message);
    Object.assign(this, { status, code, details, retry });
  }
}

async function failure(answer) {
  if (answer.status === 401) return new Failure(401, { code: "unauthorized", message: "Unknown key." });
  const [text, retry] = [await answer.text(), Number(answer.headers.get("retry-after")) || null];
  try {
    return new Failure(answer.status, JSON.parse(text), retry);
  } catch {
    return new Failure(answer.status, { code: "", message: text || `The service returned status ${answer.status}.` }, retry);
  }
}

const PAGE_SIZE = 25;

export class Api {
  #key;

  constructor(key) {
    this.#key = key;
  }

  async #ask(method, path, body, headers = {}, signal = undefined) {
    if (body !== undefined) headers["Content-Type"] = "application/json";
    headers.Authorization = `Bearer ${this.#key}`;
    const answer = await fetch(`/api/v1${path}`, { method, headers, body, cache: "no-store", credentials: "omit", signal })
      .catch(() => { throw new Failure(0, { code: "unreachable", message: "The service cannot be reached." }); });
    if (!answer.ok) throw await failure(answer);
    return answer;
  }

  get = async (path) => (await this.#ask("GET", path)).json();
  remove = async (path) => { await this.#ask("DELETE", path); };

  async post(path, value) {
    return (await this.#ask("POST", path, value === undefined ? undefined : JSON.stringify(value))).json();
  }

  /** Fetches one page of a list. `next` is the cursor of the next page, or null. */
  async page(path, query = {}, method = "GET") {
    const given = Object.entries({ limit: PAGE_SIZE, ...query }).filter(([, value]) => value);
    const answer = await this.#ask(method, `${path}?${new URLSearchParams(given)}`);
    return { rows: await answer.json(), next: answer.headers.get("x-next-cursor") };
  }

  who = () => this.post("/auth/pak");

  /** Creates the next version from the version `id`, if `newest` is still the newest one. */
  async update(id, change, newest) {
    const { headers } = await this.#ask("GET", `/templates/${newest}`);
    return (await this.#ask("PUT", `/templates/${id}`, JSON.stringify(change), { "If-Match": headers.get("etag") })).json();
  }

  /** Renders one set of parameters, given as JSON text, without storing anything. */
  async stamp(id, parameters, { stack, defaults }, signal) {
    const fits = stack ? `"stack_id":${JSON.stringify(stack)},` : "";
    const body = `{"defaults":${defaults},"sets":[{${fits}"parameters":${parameters}}]}`;
    const answer = await this.#ask("POST", `/templates/${id}/stamp`, body, {}, signal);
    return JSON.parse((await answer.text()).split("\n")[0]);
  }

  async instantiate(id, parameters, { stack, defaults }) {
    const body = `{"template_id":${JSON.stringify(id)},"parameters":${parameters}}`;
    const path = `/stacks/${stack}/deployment-objects/from-template?order=seed&defaults=${defaults}`;
    return (await this.#ask("POST", path, body)).json();
  }
}
