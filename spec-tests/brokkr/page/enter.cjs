// Signing in, and the first template of an empty catalog.

const { assert, ask, base, focused, key, until } = require("./helpers.cjs");

async function saysWhereKeysComeFrom(page) {
  const answer = await page.goto(base);
  assert.match(answer.headers()["content-security-policy"], /^default-src 'none'; script-src 'self'; style-src 'self';/);
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
  await page.goto(`${base}/templates/system/${encodeURIComponent("first/of <all>")}`);
  await until("the newest version", () => page.locator("#version").evaluate((select) => select.selectedOptions[0].textContent), (shown) => shown === "version 2 (newest)");
  const [first, second] = [address.split("/").at(-1), page.locator("#version")];
  for (const id of [await second.inputValue(), first]) await ask("DELETE", `/templates/${id}`);
}

module.exports = [saysWhereKeysComeFrom, signsIn, makesTheFirstTemplate, makesTheNextVersion];
