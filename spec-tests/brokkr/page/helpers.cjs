// What the tests of the page share: requests to the service, waiting, the browser, and the content of the catalog.

const assert = require("node:assert/strict");
const { chromium } = require("playwright-core");

const [base, key, executablePath, folder] = process.argv.slice(2);

const CONTENT = "{# A web server #}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ name }}\ndata:\n  replicas: \"{{ replicas }}\"\n  tier: {{ tier }}\n"
  + "  token: {{ token | default(value=\"none\") }}\n{%- for port in ports %}\n  port-{{ loop.index }}: {{ port }}\n{%- endfor %}\n";
const NEXT = `${CONTENT.replace("ConfigMap", "Secret")}  count: {{ ports | length }}\n`;
const SCHEMA = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 1, maxLength: 20, pattern: "^[a-z-]*$", description: "What it is <b>called</b>" },
    replicas: { type: "integer", minimum: 1, maximum: 20, default: 2 },
    tier: { enum: ["dev", "prod"], default: "dev" },
    ports: { type: "array", minItems: 1, items: { type: "integer", maximum: 65535 }, default: [80] },
    image: { type: "object", required: ["tag"], properties: { tag: { type: "string" }, pull: { type: "boolean" } } },
    labels: { type: "object", additionalProperties: { type: "string" } },
    next: { $ref: "#" },
    token: { type: "string", minLength: 8, writeOnly: true },
  },
};
const HOSTILE = `<img src=x onerror="document.title='hit'">`;

async function ask(method, path, body, pak = key) {
  const headers = { authorization: pak, "content-type": "application/json" };
  const answer = await fetch(`${base}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

/** Creates templates, generators, stacks and an object. */
async function fill() {
  const template = { name: "web", description: HOSTILE, template_content: CONTENT, parameters_schema: JSON.stringify(SCHEMA) };
  const first = await ask("POST", "/templates", template);
  await ask("POST", `/templates/${first.id}/labels`, "env=prod");
  const second = await ask("PUT", `/templates/${first.id}`, { template_content: NEXT, parameters_schema: template.parameters_schema });
  const broken = await ask("POST", "/templates", { name: "broken", template_content: "a: {{ given }}\nb: {{ not_given }}\n", parameters_schema: "{}" });
  const { generator, pak } = await ask("POST", "/generators", { name: "team" });
  const another = await ask("POST", "/generators", { name: "another" });
  const secret = await ask("POST", "/templates", { name: "private", template_content: "x", parameters_schema: "{}" }, another.pak);
  const [agent, readonly] = [await ask("POST", "/keys", { role: "agent" }), await ask("POST", "/keys", { role: "readonly" })];
  // One after the other, because lists are in creation order.
  const stacks = [];
  for (const name of ["good", "bad"]) stacks.push(await ask("POST", "/stacks", { name, generator_id: generator.id }));
  await ask("POST", `/stacks/${stacks[0].id}/labels`, "env=prod");
  const parameters = { name: "web", ports: [80, 443], token: "hunter2-hunter2" };
  const rendered = await ask("POST", `/stacks/${stacks[0].id}/deployment-objects/from-template?defaults=true`, { template_id: first.id, parameters });
  const raw = await ask("POST", `/stacks/${stacks[0].id}/deployment-objects`, { yaml_content: `kind: Pod\nname: >-\n  ${HOSTILE}\n` });
  return { first, second, broken, secret, good: stacks[0], bad: stacks[1], rendered, raw, team: pak, agent: agent.pak, readonly: readonly.pak };
}

/** Waits until the result of `read` passes `test`. */
async function until(what, read, test = Boolean) {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = await read();
    if (test(found)) return found;
    assert.ok(Date.now() < end, `${what}: ${JSON.stringify(found)}`);
    await new Promise((go) => setTimeout(go, 25));
  }
}

/** Asserts that the focus is on an element, and on the expected one if a test is given. */
async function focused(page, what, test = Boolean) {
  const read = () => page.evaluate(() => {
    const { activeElement: at } = document;
    return at === document.body ? "" : `${at.tagName} ${at.getAttribute("aria-label") ?? ""} ${at.dataset.pointer ?? ""} ${at.id} ${at.textContent}`;
  });
  await until(`focus ${what}`, read, test);
}

async function signIn(page, pak) {
  await page.getByLabel("Key").fill(pak);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** Opens an address in a tab that is signed in. */
async function visit(page, path) {
  await page.goto(base + path);
  await until("the view", () => page.locator("main").getAttribute("aria-busy"), (busy) => busy === null);
  await page.locator("h1").waitFor();
}

/** Runs `test` in a browser. Fails if the page logs errors that are not `expected`, or loads from other hosts. */
async function browse(test, expected = () => false) {
  // Chromium's sandbox does not work for root, and the shared memory of a container may be too small.
  const args = ["--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const wrong = [];
    page.on("console", (message) => {
      const severe = ["error", "warning"].includes(message.type());
      if (severe && !expected(message.text(), message.location().url)) wrong.push(`console: ${message.text()} ${message.location().url}`);
    });
    page.on("pageerror", (error) => wrong.push(`exception: ${error.stack}`));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol !== "blob:" && url.origin !== new URL(base).origin) wrong.push(`a request to ${request.url()}`);
    });
    await test(page, context);
    assert.deepEqual(wrong, []);
    assert.notEqual(await page.title(), "hit");
  } finally {
    await browser.close();
  }
}

/** Runs the parts of a test in order. */
async function inOrder(parts, ...given) {
  for (const part of parts) {
    await part(...given).catch((error) => { throw new Error(`${part.name}: ${error.stack ?? error}`); });
  }
}

/** Reports the end of a program. */
function end(run) {
  run.then(() => console.log("passed"), (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}

module.exports = { CONTENT, NEXT, SCHEMA, HOSTILE, ask, assert, base, browse, end, fill, focused, folder, inOrder, key, signIn, until, visit };
