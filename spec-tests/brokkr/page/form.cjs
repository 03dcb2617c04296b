// The form for parameters: its fields, errors and secrets, and the result beside it.

const { ask, assert, focused, until, visit } = require("./helpers.cjs");

const result = (page) => page.locator("#result").innerText();
const errorAt = (page, pointer) => page.locator(`.field:has([data-pointer="${pointer}"]) > .errors, fieldset[data-pointer="${pointer}"] > .errors`).last();
const box = (page, name) => page.getByRole("textbox", { name, exact: true });

/** Nothing is an error before it was touched. */
async function waitsForTouch(page, { first }) {
  await visit(page, `/templates/${first.id}`);
  await until("what is left to do", () => result(page), (text) => /Still to do:\s*name: Required\./.test(text));
  assert.equal(await page.locator(".error:visible, [aria-invalid=true]").count(), 0);
  await page.getByRole("button", { name: "name: Required." }).click();
  await focused(page, "on the field", (at) => at.includes("/name"));
  await page.keyboard.press("Tab");
  await until("an error at the field that was left", () => errorAt(page, "/name").textContent(), (text) => text === "Required.");
  assert.equal(await page.locator("[aria-invalid=true]").count(), 1);
  await focused(page, "on the next field", (at) => at.includes("/replicas"));
}

/** The form follows the schema, the result follows the form, and errors are in words at their fields. */
async function fills(page) {
  const name = box(page, "name");
  const hint = await page.locator(`#${(await name.getAttribute("aria-describedby")).split(" ")[0]}`).textContent();
  assert.equal(hint, "required · text · at least 1 character · at most 20 characters · matching the pattern ^[a-z-]*$");
  await name.fill("web");
  await until("the defaults", () => result(page), (text) => /name: web[^]*replicas: "2"[^]*tier: dev/.test(text));
  assert.equal(await name.getAttribute("aria-invalid"), "false");
  await name.fill("Web");
  await until("a wrong pattern", () => errorAt(page, "/name").textContent(), (text) => text === "Must match the pattern ^[a-z-]*$.");
  await name.fill("web");
  const replicas = box(page, "replicas");
  assert.equal(await replicas.getAttribute("placeholder"), "2");
  for (const [value, told] of [["100", "At most 20."], ["0", "At least 1."], ["many", "Must be a whole number."]]) {
    await replicas.fill(value);
    await until(told, () => errorAt(page, "/replicas").textContent(), (text) => text === told);
    assert.equal(await replicas.getAttribute("aria-invalid"), "true");
  }
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
  await until("a missing tag is left to do", () => result(page), (text) => /image\.tag: Required\./.test(text));
  assert.equal(await errorAt(page, "/image/tag").textContent(), "");
  await box(page, "tag").fill("1.2");
  const add = page.getByRole("button", { name: "Add to ports" });
  await add.click();
  await page.keyboard.type("99999");
  await until("a port too great", () => errorAt(page, "/ports/0").textContent(), (text) => text === "At most 65535.");
  await page.getByRole("button", { name: "Remove ports 1" }).click();
  await focused(page, "on the button that adds", (at) => at.includes("Add to ports"));
  await page.getByLabel("Edit as JSON").check();
  const raw = page.getByLabel("Parameters as JSON");
  await raw.fill(`{"name": "web", "replicas": 7, "image": {"tag": "1.2", "pull": true}, "ports": []}`);
  await until("no port", () => result(page), (text) => /ports: At least 1 entry\./.test(text));
  await page.getByLabel("Edit as JSON").uncheck();
  await add.click();
  await page.keyboard.type("1");
  await add.click();
  await page.keyboard.type("80");
  await page.getByRole("button", { name: "Remove ports 1" }).click();
  await focused(page, "on the next entry", (at) => at.includes("/ports/0"));
  await until("one port", () => box(page, "ports 1").inputValue(), (value) => value === "80");
  await box(page, "labels").fill("{");
  await until("half a map", () => errorAt(page, "/labels").textContent(), (text) => /^Invalid JSON/.test(text));
  await box(page, "labels").fill(`{"n": 9007199254740993}`);
  await until("no text", () => errorAt(page, "/labels").textContent(), (text) => text === "n: must be text.");
}

/** Secrets are hidden while typed, in errors, as JSON and in the result, until they are asked for. */
async function hidesSecrets(page) {
  await box(page, "labels").fill("");
  const token = box(page, "token");
  assert.equal(await token.getAttribute("type"), "password");
  await token.fill("hunter2");
  await until("a short secret", () => errorAt(page, "/token").textContent(), (text) => text === "At least 8 characters.");
  await token.fill("hunter2-hunter2");
  await until("a hidden secret", () => result(page), (text) => /token: ••••••••/.test(text));
  assert.doesNotMatch(await page.locator("main").innerText(), /hunter2/);
  await page.getByLabel("Show secrets").check();
  await until("the secret", () => result(page), (text) => /token: hunter2-hunter2/.test(text));
  await page.getByLabel("Show secrets").uncheck();
  await page.getByRole("button", { name: "Show token" }).click();
  assert.equal(await token.getAttribute("type"), "text");
  await page.getByRole("button", { name: "Show token" }).click();
  await page.getByLabel("Edit as JSON").check();
  assert.equal(JSON.parse(await page.getByLabel("Parameters as JSON").inputValue()).token, "••••••••");
  await until("a hidden secret", () => result(page), (text) => /token: ••••••••/.test(text));
  await page.getByLabel("Edit as JSON").uncheck();
  assert.equal(await token.inputValue(), "hunter2-hunter2");
  await token.fill("");
}

/** Switching between JSON and fields loses nothing. */
async function switches(page) {
  await box(page, "labels").fill(`{"n": 9007199254740993}`);
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
  assert.equal(await box(page, "name").inputValue(), "from-json");
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

/** A render is cancelled by the next one, and tried again if the service is busy. */
async function triesAgain(page) {
  let count = 0;
  const cancelled = [];
  page.on("requestfailed", (request) => cancelled.push(request.failure().errorText));
  await page.route("**/stamp", async (route) => {
    count += 1;
    if (count === 1) await route.fulfill({ status: 503, headers: { "retry-after": "1" }, json: { code: "busy", message: "too many renders" } });
    else if (count === 2) await new Promise((go) => setTimeout(go, 2000)).then(() => route.abort().catch(() => {}));
    else await route.continue();
  });
  await box(page, "name").fill("busy");
  await until("a busy service", () => result(page), (text) => text === "too many renders");
  await until("a second try", () => count === 2);
  await box(page, "name").fill("third");
  await until("the third", () => result(page), (text) => /name: third/.test(text));
  assert.ok(cancelled.includes("net::ERR_ABORTED"), cancelled.join());
  assert.equal(count, 3);
  await page.unroute("**/stamp");
  await box(page, "name").fill("web");
}

/** The focus survives a new result. */
async function keepsTheFocus(page) {
  await until("a result", () => result(page), (text) => /name: web/.test(text));
  const copy = page.getByRole("button", { name: "Copy Rendered text" });
  await copy.focus();
  for (const name of ["web-a", ""]) {
    await box(page, "name").evaluate((input, value) => {
      input.value = value;
      input.dispatchEvent(new Event("input"));
    }, name);
    await until("a new result", () => result(page), (text) => (name ? text.includes(`name: ${name}`) : text === ""));
    await focused(page, "in the result", (at) => (name ? at.includes("Copy") : at.includes("result")));
  }
  await box(page, "name").fill("web");
}

/** The button tells what it needs. It is never disabled, so the focus stays. */
async function stores(page, { good }) {
  const store = page.getByRole("button", { name: "Instantiate" });
  await box(page, "name").fill("");
  await store.click();
  await focused(page, "on the first error", (at) => at.includes("/name"));
  await box(page, "name").fill("web");
  await until("a result", () => result(page), (text) => /name: web/.test(text));
  await store.click();
  await page.getByText("Choose the stack that gets the object.").waitFor();
  await focused(page, "on the stacks", (at) => at.startsWith("SELECT"));
  await page.getByLabel("Stack").selectOption({ label: "bad" });
  await until("a stack that does not fit", () => result(page), (text) => /The stack has no label env=prod/.test(text));
  await store.click();
  await until("a refusal", () => page.locator("#stored").innerText(), (text) => /1 error, nothing was stored/.test(text));
  await page.getByLabel("Stack").selectOption({ label: "good" });
  await until("a stack that fits", () => result(page), (text) => /name: web/.test(text));
  await store.click();
  await page.getByText(/Created object \d+ in good\./).waitFor();
  await focused(page, "on the button", (at) => at.includes("Instantiate"));
  const objects = await ask("GET", `/stacks/${good.id}/deployment-objects`);
  assert.equal(objects.length, 3);
  assert.match(objects[0].yaml_content, /name: web[^]*replicas: "3"/);
}

/** The result stays in view on a large screen, and is a tab on a small one. */
async function keepsTheResultInView(page) {
  await page.setViewportSize({ width: 1280, height: 700 });
  await box(page, "token").scrollIntoViewIfNeeded();
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  const seen = async (locator) => {
    const { y, height } = await locator.boundingBox();
    return y >= 0 && y + height <= 700;
  };
  for (const part of [page.locator("#result"), page.getByRole("button", { name: "Instantiate" })]) {
    await until("a result in view", () => seen(part));
  }
  await page.setViewportSize({ width: 400, height: 800 });
  const tab = (name) => page.getByRole("tab", { name });
  await tab("Parameters").waitFor();
  assert.ok(await page.locator("#result").isHidden());
  await tab("Parameters").focus();
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.locator("#result").isVisible());
  assert.ok(await box(page, "name").isHidden());
  await focused(page, "on the tab", (at) => at.includes("Result"));
  await tab("Parameters").click();
  await box(page, "name").fill("");
  await until("no result", () => tab("Result").innerText(), (text) => /none yet/.test(text));
  await tab("Result").click();
  await page.getByRole("button", { name: "Instantiate" }).click();
  await focused(page, "on the first error in the other tab", (at) => at.includes("/name"));
  await page.setViewportSize({ width: 1280, height: 900 });
  await box(page, "name").fill("web");
}

/** Schemas of any size and shape have a form. */
async function survivesHostileSchemas(page) {
  const properties = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`p${index}`, { type: "string" }]));
  let deep = { type: "string" };
  for (let depth = 0; depth < 20; depth += 1) deep = { type: "object", properties: { a: deep } };
  const schemas = [
    { properties, required: ["p0", "p2999"] },
    { properties: { many: { enum: Array.from({ length: 20_000 }, (_, index) => `v${index}`) } } },
    { properties: { deep, __proto__x: { type: "string" }, "a/b~c": { type: "string", minLength: 2 } } },
    { properties: { a: { $ref: "#/definitions/a" } }, definitions: { a: { properties: { b: { $ref: "#/definitions/a" } } } } },
    { properties: { secret: { enum: ["one-secret", "two-secret"], writeOnly: true }, on: { type: "boolean", "x-secret": true } } },
  ];
  const counts = [];
  for (const [index, schema] of schemas.entries()) {
    const made = await ask("POST", "/templates", { name: `hostile-${index}`, template_content: "x", parameters_schema: JSON.stringify(schema) });
    await visit(page, `/templates/${made.id}`);
    counts.push(await page.locator("#parameters [data-pointer] , #parameters select").count());
    if (index === 2) {
      await box(page, "a/b~c").fill("1");
      await until("an error at an odd name", () => errorAt(page, "/a~1b~0c").textContent(), (text) => text === "At least 2 characters.");
    }
    if (index === 4) assert.equal(await page.locator("#parameters select").count(), 0);
    await ask("DELETE", `/templates/${made.id}`);
  }
  assert.ok(counts[0] <= 502 && counts.every((count) => count > 1), JSON.stringify(counts));
}

module.exports = [survivesHostileSchemas, waitsForTouch, fills, nests, hidesSecrets, switches, triesAgain, keepsTheFocus, stores, keepsTheResultInView];
