// Signing in, and the first template of an empty catalog.

const { assert, ask, base, focused, key, until } = require("./helpers.cjs");

async function saysWhereKeysComeFrom(page) {
  const answer = await page.goto(base);
  assert.match(answer.headers()["content-security-policy"], /^default-src 'none'; script-src 'self'; style-src 'self';/);
  const script = await fetch(`${base}/page/app.js`);
  const again = await fetch(`${base}/page/app.js`, { headers: { "if-none-match": script.headers.get("etag") } });
  assert.deepEqual([script.status, again.status], [200, 304]);
  await page.getByRole("heading", { name: "Sign in to dropforge" }).waitFor();
  assert.match(await page.locator("main").innerText(), /Where a key comes from[^]*--init[^]*catalog generator create/);
  assert.ok(await page.locator("#places").isHidden());
}

async function signsIn(page) {
  await page.getByLabel("Key").fill("brokkr_BRnobody_000000000000000000000000");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("Unknown key.").waitFor();
  await focused(page, "on the key", (at) => at.includes("INPUT"));
  await page.getByLabel("Key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "No templates yet" }).waitFor();
  await focused(page, "on the title", (at) => at.includes("No templates yet"));
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await page.reload();
  await page.getByRole("heading", { name: "No templates yet" }).waitFor();
  assert.match(await page.locator("main").innerText(), /dropforge catalog create web web\.tera --schema web\.schema\.json/);
}

/** The form tells what is missing and what is wrong, at its fields, and makes a template. */
async function makesTheFirstTemplate(page) {
  const create = page.getByRole("button", { name: "Create template" });
  await create.click();
  await page.getByText("Give the template a name.").waitFor();
  await focused(page, "on the name", (at) => at.startsWith("INPUT"));
  await page.getByRole("button", { name: "Fill in an example" }).click();
  await page.getByText("The template and its schema agree.").waitFor();
  assert.equal(await page.getByText("Give the template a name.").count(), 0);
  const [name, text, schema] = ["Name", "Template", "Schema of the parameters"].map((label) => page.getByLabel(label, { exact: true }));
  await name.fill("first/of <all>");
  await text.fill("a: {{ b");
  await until("a syntax error", () => text.getAttribute("aria-invalid"), (invalid) => invalid === "true");
  await text.fill("a: {{ b }}\n");
  await page.getByText("To consider:").waitFor();
  await schema.fill("{");
  await until("a schema error", () => schema.getAttribute("aria-invalid"), (invalid) => invalid === "true");
  await create.click();
  await focused(page, "on the schema", (at) => at.startsWith("TEXTAREA"));
  await schema.fill(`{"properties": {"b": {"type": "string"}}}`);
  await page.getByText("The template and its schema agree.").waitFor();
  await create.click();
  await page.getByText("Created version 1 of first/of <all>.").waitFor();
  await focused(page, "on the title", (at) => at.includes("first/of <all>"));
  assert.match(page.url(), /\/templates\/[0-9a-f-]{36}$/);
}

/** The next version starts from the present one, and is refused if someone else was faster. */
async function makesTheNextVersion(page) {
  const address = page.url();
  await page.getByRole("link", { name: "New version" }).click();
  const text = page.getByLabel("Template", { exact: true });
  assert.equal(await text.inputValue(), "a: {{ b }}\n");
  await text.fill("a: {{ b }}\nc: 1\n");
  await page.getByRole("button", { name: "Create version" }).click();
  await page.getByText("Created version 2 of first/of <all>.").waitFor();
  assert.notEqual(page.url(), address);
  const [first, second] = [address, page.url()].map((url) => url.split("/").at(-1));
  await page.goto(`${address}?view=edit`);
  await page.getByRole("button", { name: "Create version" }).waitFor();
  const third = await ask("PUT", `/templates/${second}`, { template_content: "b: 1\n", parameters_schema: "{}" });
  await page.getByRole("button", { name: "Create version" }).click();
  await page.locator("#message").getByText("has changed").waitFor();
  await focused(page, "on the button", (at) => at.includes("Create version"));
  await page.reload();
  await page.getByRole("button", { name: "Create version" }).click();
  await page.getByText("Created version 4 of first/of <all>.").waitFor();
  await page.goto(`${base}/templates/system/${encodeURIComponent("first/of <all>")}`);
  await until("the newest version", () => page.locator("#version").evaluate((select) => select.selectedOptions[0].textContent), (shown) => shown === "version 4 (newest)");
  for (const id of [await page.locator("#version").inputValue(), third.id, second, first]) await ask("DELETE", `/templates/${id}`);
}

module.exports = [saysWhereKeysComeFrom, signsIn, makesTheFirstTemplate, makesTheNextVersion];
