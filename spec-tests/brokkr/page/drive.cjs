// Tests the page in headless Chromium: `node drive.cjs BASE KEY CHROMIUM`, with an administrator key of a catalog that
// only this test uses. Prints errors and exits with 1 if anything is wrong.

const assert = require("node:assert/strict");
const { chromium } = require("playwright-core");

const [base, key, executablePath] = process.argv.slice(2);

const CONTENT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ name }}\ndata:\n  replicas: \"{{ replicas }}\"\n  tier: {{ tier }}\n";
const NEXT = CONTENT.replace("ConfigMap", "Secret") + "  ports: {{ ports | length }}\n";
const SCHEMA = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 1, maxLength: 20, pattern: "^[a-z-]*$", description: "What it is <b>called</b>" },
    replicas: { type: "integer", minimum: 1, maximum: 20, default: 2 },
    tier: { enum: ["dev", "prod"], default: "dev" },
    ports: { type: "array", items: { type: "integer", maximum: 65535 }, default: [] },
    image: { type: "object", required: ["tag"], properties: { tag: { type: "string" }, pull: { type: "boolean" } } },
    labels: { type: "object", additionalProperties: { type: "string" } },
    next: { $ref: "#" },
    token: { type: "string", minLength: 8, writeOnly: true },
  },
};
const BROKEN = "a: {{ given }}\nb: {{ not_given }}\n";
const HOSTILE = `<img src=x onerror="document.title='hit'">`;

async function ask(method, path, body, pak = key) {
  const headers = { authorization: pak, "content-type": "application/json" };
  const answer = await fetch(`${base}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
}

/** Creates the content of the page. */
async function fill() {
  const template = { name: "web", description: HOSTILE, template_content: CONTENT, parameters_schema: JSON.stringify(SCHEMA) };
  const first = await ask("POST", "/templates", template);
  await ask("POST", `/templates/${first.id}/labels`, "env=prod");
  await ask("PUT", `/templates/${first.id}`, { template_content: NEXT, parameters_schema: template.parameters_schema });
  await ask("POST", "/templates", { name: "broken", template_content: BROKEN, parameters_schema: "{}" });
  const { generator, pak } = await ask("POST", "/generators", { name: "team" });
  const another = await ask("POST", "/generators", { name: "another" });
  await ask("POST", "/templates", { name: "private", template_content: "x", parameters_schema: "{}" }, another.pak);
  const agent = await ask("POST", "/keys", { role: "agent" });
  // One after the other, because lists are in creation order.
  const stacks = [];
  for (const name of ["good", "bad"]) stacks.push(await ask("POST", "/stacks", { name, generator_id: generator.id }));
  await ask("POST", `/stacks/${stacks[0].id}/labels`, "env=prod");
  return { first, good: stacks[0], team: pak, agent: agent.pak };
}

/** Waits until the result of `read` passes `test`. */
async function until(what, read, test) {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = await read();
    if (test(found)) return found;
    assert.ok(Date.now() < end, `${what}: ${JSON.stringify(found)}`);
    await new Promise((go) => setTimeout(go, 25));
  }
}

async function enters(page) {
  const answer = await page.goto(base);
  assert.match(answer.headers()["content-security-policy"], /^default-src 'none'; script-src 'self'; style-src 'self';/);
  await page.getByLabel("Key").fill("brokkr_BRnobody_000000000000000000000000");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("Unknown key.").waitFor();
  assert.ok(await page.locator("#catalog").isHidden());
  await page.getByLabel("Key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByText("3 of 3 templates").waitFor();
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await page.reload();
  await page.getByText("3 of 3 templates").waitFor();
}

async function browses(page, { first }) {
  await page.getByLabel("Search").fill("system we");
  await page.getByText("1 of 3 templates").waitFor();
  await page.getByRole("button", { name: /^web/ }).click();
  await page.getByRole("heading", { name: "web" }).waitFor();
  assert.deepEqual(await page.locator("#version option").allTextContents(), ["version 2", "version 1"]);
  assert.match(await page.locator("#content").textContent(), /kind: Secret/);
  assert.deepEqual(await page.locator("#rules li").allTextContents(), ["env=prod"]);
  await page.getByLabel("Version").selectOption(first.id);
  await until("version 1", () => page.locator("#content").textContent(), (text) => text.includes("ConfigMap"));
  assert.equal(await page.locator("img").count(), 0);
  assert.ok(await page.getByText(HOSTILE).first().isVisible());
}

const result = (page) => page.locator("#result").innerText();
const errorAt = (page, pointer) => page.locator(`.field:has(> [data-pointer="${pointer}"]) > .errors, fieldset[data-pointer="${pointer}"] > .errors`);

/** The form follows the schema, the result follows the form, and errors are shown at their fields. */
async function fills(page) {
  await until("a missing name", () => errorAt(page, "/name").textContent(), (text) => /required/.test(text));
  const name = page.getByLabel("name", { exact: true });
  assert.match(await page.locator(`#${(await name.getAttribute("aria-describedby")).split(" ")[0]}`).textContent(), /required.*maximum length 20.*\^\[a-z-\]\*\$/);
  await name.fill("web");
  await until("the defaults", () => result(page), (text) => /name: web[^]*replicas: "2"[^]*tier: dev/.test(text));
  assert.equal(await name.getAttribute("aria-invalid"), "false");
  const replicas = page.getByLabel("replicas");
  assert.equal(await replicas.getAttribute("placeholder"), "2");
  await replicas.fill("100");
  await until("too many replicas", () => errorAt(page, "/replicas").textContent(), (text) => /greater than the maximum of 20/.test(text));
  assert.equal(await replicas.getAttribute("aria-invalid"), "true");
  await replicas.fill("many");
  await until("no number", () => errorAt(page, "/replicas").textContent(), (text) => /integer/.test(text));
  await replicas.fill("7");
  await page.getByLabel("tier").selectOption({ label: "prod" });
  await until("what was chosen", () => result(page), (text) => /replicas: "7"[^]*tier: prod/.test(text));
  await page.getByLabel("Fill in schema defaults").uncheck();
  await page.getByLabel("tier").selectOption({ index: 0 });
  await until("nothing filled in", () => result(page), (text) => /tier/.test(text) && !/name: web/.test(text));
  await page.getByLabel("Fill in schema defaults").check();
  await until("filled in", () => result(page), (text) => /tier: dev/.test(text));
}

async function nests(page) {
  await page.getByLabel("pull").selectOption({ label: "true" });
  await until("a missing tag", () => errorAt(page, "/image/tag").textContent(), (text) => /required/.test(text));
  await page.getByLabel("tag").fill("1.2");
  await page.getByRole("button", { name: "Add to ports" }).click();
  await page.getByLabel("ports 1", { exact: true }).fill("99999");
  await page.getByRole("button", { name: "Add to ports" }).click();
  await page.getByLabel("ports 2", { exact: true }).fill("80");
  await until("a port too great", () => errorAt(page, "/ports/0").textContent(), (text) => /65535/.test(text));
  await page.getByRole("button", { name: "Remove ports 1" }).click();
  await until("one port", () => page.getByLabel("ports 1", { exact: true }).inputValue(), (value) => value === "80");
  await page.getByLabel("labels").fill("{");
  await until("half a map", () => errorAt(page, "/labels").textContent(), (text) => /invalid JSON/.test(text));
  await page.getByLabel("labels").fill(`{"n": 9007199254740993}`);
  await until("no text", () => errorAt(page, "/labels").textContent(), (text) => /^\/labels\/n: .*is not of type "string"/.test(text));
}

/** Secrets are hidden while typed and in errors. */
async function hides(page) {
  const token = page.getByLabel("token");
  assert.equal(await token.getAttribute("type"), "password");
  await token.fill("hunter2");
  const told = await until("a short secret", () => errorAt(page, "/token").textContent(), (text) => /shorter than 8/.test(text));
  assert.doesNotMatch(told + await result(page), /hunter2/);
  await token.fill("");
}

/** Switching between JSON and fields loses nothing. */
async function switches(page) {
  await page.getByLabel("Edit as JSON").check();
  const raw = page.getByLabel("Parameters as JSON");
  const found = await raw.inputValue();
  assert.match(found, /"n": 9007199254740993/);
  assert.deepEqual(JSON.parse(found), { name: "web", replicas: 7, ports: [80], image: { tag: "1.2", pull: true }, labels: { n: 9007199254740992 } });
  await raw.fill(`{"name": "from-json", "extra": {"deep": [1.50]}, "replicas": `);
  await until("half JSON", () => page.locator("#parameters").innerText(), (text) => /Invalid JSON/.test(text));
  await raw.fill(`{"name": "from-json", "extra": {"deep": [1.50]}, "replicas": 3}`);
  await until("from JSON", () => result(page), (text) => /name: from-json[^]*replicas: "3"/.test(text));
  await page.getByLabel("Edit as JSON").uncheck();
  assert.equal(await page.getByLabel("name", { exact: true }).inputValue(), "from-json");
  assert.ok(await page.getByText(/Other properties.*: extra/).isVisible());
  await page.getByLabel("Edit as JSON").check();
  assert.match(await raw.inputValue(), /1\.50/);
  await raw.fill(`{"name": ["no text"]}`);
  await page.getByLabel("Edit as JSON").click();
  assert.ok(await page.getByText(/can only be edited as JSON/).isVisible());
  assert.ok(await page.getByLabel("Edit as JSON").isChecked());
  await raw.fill(`{"name": "web", "replicas": 3}`);
  await page.getByLabel("Edit as JSON").uncheck();
}

async function stores(page, { good }) {
  const store = page.getByRole("button", { name: "Instantiate" });
  assert.ok(await store.isDisabled());
  await page.getByLabel("Stack").selectOption({ label: "bad" });
  await until("a stack that does not fit", () => result(page), (text) => /missing label env=prod/.test(text));
  assert.ok(await store.isDisabled());
  await page.getByLabel("Stack").selectOption({ label: "good" });
  await until("a stack that fits", () => store.isEnabled(), Boolean);
  await store.click();
  await page.getByText(/Created object .* in good/).waitFor();
  const objects = await ask("GET", `/stacks/${good.id}/deployment-objects`);
  assert.equal(objects.length, 1);
  assert.match(objects[0].yaml_content, /name: web[^]*replicas: "3"/);
}

async function compares(page) {
  await page.getByLabel("Version").selectOption({ label: "version 2" });
  await until("version 2", () => page.locator("#content").textContent(), (text) => text.includes("Secret"));
  await page.getByLabel("name", { exact: true }).fill("web");
  await page.getByLabel("replicas").fill("0");
  await until("too few replicas", () => errorAt(page, "/replicas").textContent(), (text) => /less than the minimum of 1/.test(text));
  await page.getByText("Compare", { exact: true }).first().click();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("Version 1 cannot be rendered:").waitFor();
  assert.match(await errorAt(page, "/replicas").textContent(), /less than the minimum of 1/);
  await page.getByLabel("replicas").fill("");
  await page.getByRole("button", { name: "Compare" }).click();
  const diff = (name) => page.getByLabel(`${name}: diff`);
  await diff("Result").waitFor();
  assert.deepEqual(await diff("Template").locator("del").allTextContents(), ["kind: ConfigMap"]);
  assert.deepEqual(await diff("Template").locator("ins").allTextContents(), ["kind: Secret", "  ports: {{ ports | length }}"]);
  assert.deepEqual(await diff("Result").locator("ins").allTextContents(), ["kind: Secret", "  ports: 0"]);
  assert.ok(await page.getByText("No differences.").isVisible());
  await page.getByText("Preview changes").click();
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("0 of 1 objects would not change.").waitFor();
  assert.ok(await page.getByText("1 object: good (version 1)").isVisible());
  assert.ok((await page.locator("#changes ins").allTextContents()).includes("kind: Secret"));
}

/** A render error is shown at its line of the template. */
async function fails(page) {
  await page.getByLabel("Search").fill("");
  await page.getByRole("button", { name: /^broken/ }).click();
  await page.getByRole("heading", { name: "broken" }).waitFor();
  await page.getByLabel("Parameters as JSON").fill(`{"given": 1}`);
  await until("the line", () => page.locator("#content .marked").allTextContents(), ([line]) => /b: \{\{ not_given \}\}.*not_given/.test(line ?? ""));
  assert.match(await result(page), /line 2, column [^]*available: given/);
  await page.getByLabel("Parameters as JSON").fill(`{"given": 1, "not_given": 2}`);
  await until("no line", () => page.locator("#content .marked").count(), (count) => count === 0);
}

/** Every control has a name, and nothing is wider than a small screen. */
async function fitsEverybody(page) {
  await page.getByRole("button", { name: /^web/ }).click();
  await page.getByRole("heading", { name: "web" }).waitFor();
  assert.doesNotMatch(await page.locator("body").textContent(), /\[object|undefined|NaN/);
  const nameless = await page.evaluate(() => [...document.querySelectorAll("input, select, textarea, button")]
    .filter((control) => !(control.labels?.length > 0 || control.textContent.trim() || control.getAttribute("aria-label")))
    .map((control) => control.outerHTML));
  assert.deepEqual(nameless, []);
  const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((element) => element.id));
  assert.equal(new Set(ids).size, ids.length);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 400, height: 800 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 400, `${width} pixels wide`);
    assert.ok((await page.locator("main").boundingBox()).width >= 340);
    const [ink, ground] = await page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]);
    assert.ok(contrast(ink, ground) >= 7, `${ink} on ${ground}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

function contrast(...colours) {
  const [a, b] = colours.map((colour) => {
    const parts = colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  });
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

async function leaves(page) {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Key").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  assert.ok(await page.locator("#catalog").isHidden());
  assert.equal(await page.locator("#work").textContent(), "Select a template.");
}

/** A generator cannot see another's templates, and an agent cannot see any. */
async function seesItsOwn(page, { team, agent }) {
  await page.getByLabel("Key").fill(agent);
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("not authorized to access templates").waitFor();
  assert.ok(await page.locator("#catalog").isHidden());
  await page.getByLabel("Key").fill(team);
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("Signed in: generator").waitFor();
  assert.deepEqual(await page.locator("#templates small").allTextContents(), ["system · version 1", "system · version 2; 2 versions"]);
  assert.equal(await page.getByText("private").count(), 0);
  await page.getByRole("button", { name: /^web/ }).click();
  await page.getByRole("heading", { name: "web" }).waitFor();
  assert.deepEqual(await page.locator("#stack option").allTextContents(), ["no stack", "good", "bad"]);
}

async function main() {
  const filled = await fill();
  // Chromium's sandbox does not work for root, and the shared memory of a container may be too small.
  const args = ["--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    const wrong = [];
    // The console also reports the expected errors: an unknown key, and an agent's key.
    const expected = (text, url) => (/status of 401/.test(text) && url.endsWith("/auth/pak"))
      || (/status of 403/.test(text) && url.includes("/templates?"));
    page.on("console", (message) => {
      const severe = ["error", "warning"].includes(message.type());
      if (severe && !expected(message.text(), message.location().url)) wrong.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => wrong.push(`exception: ${error}`));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== new URL(base).origin) wrong.push(`a request to ${request.url()}`);
    });
    for (const part of [enters, browses, fills, hides, nests, switches, stores, compares, fails, fitsEverybody, leaves, seesItsOwn]) {
      await part(page, filled).catch((error) => { throw new Error(`${part.name}: ${error.stack ?? error}`); });
    }
    assert.deepEqual(wrong, []);
    assert.notEqual(await page.title(), "hit");
  } finally {
    await browser.close();
  }
}

main().then(() => console.log("passed"), (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
