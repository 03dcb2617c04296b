// Texts and differences: colours, line numbers, copies and downloads.

const { readFileSync } = require("node:fs");
const { CONTENT, ask, assert, focused, until, visit } = require("./helpers.cjs");

const lines = (page, name) => page.getByRole("list", { name, exact: true }).locator("li code").allInnerTexts();
const box = (page, name) => page.getByRole("textbox", { name, exact: true });

/** Colours change nothing about the text. */
async function colours(page, { first }) {
  await visit(page, `/templates/${first.id}?view=source`);
  const shown = await lines(page, "Template");
  assert.equal(shown.map((line) => (line === " " ? "" : line)).join("\n"), CONTENT.trimEnd());
  const template = page.getByRole("list", { name: "Template" });
  const tokens = async (kind) => template.locator(`.t-${kind}`).allTextContents();
  assert.deepEqual(await tokens("comment"), ["{# A web server #}"]);
  assert.ok((await tokens("key")).includes("apiVersion") && (await tokens("key")).includes("default"));
  assert.deepEqual((await tokens("word")).slice(0, 3), ["for", "in", "endfor"]);
  const schema = page.getByRole("list", { name: "Schema" });
  assert.ok((await schema.locator(".t-key").allTextContents()).includes(`"minLength"`));
  assert.ok((await schema.locator(".t-number").allTextContents()).includes("65535"));
}

/** Colouring takes linear time, and long texts are cut. */
async function survivesHostileTexts(page) {
  const hostile = [`${"{{".repeat(60_000)}`, `${"'{\"- a".repeat(30_000)}`, `${" ".repeat(100_000)}#|>&`, "x: 1\n".repeat(20_000), "- '".repeat(250_000)];
  const times = [];
  for (const [index, text] of hostile.entries()) {
    const escaped = `{% raw %}${text}{% endraw %}`;
    const made = await ask("POST", "/templates", { name: `hostile-${index}`, template_content: escaped, parameters_schema: "{}" });
    await visit(page, `/templates/${made.id}?view=source`);
    times.push((await lines(page, "Template")).length);
    assert.equal(await page.getByText("Only the beginning is shown.").count(), index > 2 ? 1 : 0);
    await ask("DELETE", `/templates/${made.id}`);
  }
  assert.deepEqual(times, [1, 1, 1, 5000, 1]);
}

async function copies(page, { rendered }, context) {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await visit(page, `/objects/${rendered.id}`);
  const hidden = rendered.yaml_content.replace("hunter2-hunter2", "***");
  assert.notEqual(hidden, rendered.yaml_content);
  await page.getByRole("button", { name: "Copy YAML" }).click();
  await page.getByText("Copied: YAML").waitFor({ state: "attached" });
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), hidden);
  await page.getByLabel("Show secrets").check();
  await page.getByText("hunter2-hunter2").first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download YAML" }).click()]);
  assert.equal(download.suggestedFilename(), `object-${rendered.sequence_id}.yaml`);
  assert.equal(readFileSync(await download.path(), "utf8"), rendered.yaml_content);
  // Addresses without TLS have no clipboard.
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined });
    document.addEventListener("copy", () => { window.copied = document.activeElement.value; });
  });
  await page.getByRole("button", { name: "Copy Parameters" }).click();
  await page.getByText("Copied: Parameters").waitFor({ state: "attached" });
  assert.match(await page.evaluate(() => window.copied), /"name":\s*"web"/);
  await focused(page, "on the button", (at) => at.includes("Parameters"));
}

const diff = (page, name) => page.getByLabel(`${name}: diff`);
const numbers = (locator) => locator.locator("li").evaluateAll((rows) => rows
  .filter((row) => !row.classList.contains("kept")).map((row) => [...row.querySelectorAll(".number")].map((number) => number.textContent).join("|")));

/** Versions are compared with line numbers. Another version takes over the parameters. */
async function compares(page, { first, second }) {
  await visit(page, `/templates/${first.id}`);
  await box(page, "name").fill("web");
  await page.getByLabel("Version", { exact: true }).focus();
  await page.getByLabel("Version", { exact: true }).selectOption({ label: "version 2 (newest)" });
  await until("version 2", () => page.title(), (title) => title.startsWith("web, version 2"));
  assert.ok(page.url().endsWith(`/templates/${second.id}`));
  await focused(page, "on the version", (at) => at.includes("version"));
  assert.equal(await box(page, "name").inputValue(), "web");
  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByText("From version 1 to version 2.").waitFor();
  await focused(page, "on the view", (at) => at.includes("Compare"));
  assert.deepEqual(await diff(page, "Template").locator("del").allTextContents(), ["kind: ConfigMap"]);
  assert.deepEqual(await diff(page, "Template").locator("ins").allTextContents(), ["kind: Secret", "  count: {{ ports | length }}"]);
  assert.deepEqual(await numbers(diff(page, "Template")), ["3|", "|3", "", "|13"]);
  assert.deepEqual(await diff(page, "Result").locator("ins").allTextContents(), ["kind: Secret", "  count: 1"]);
  assert.ok(await page.getByText("No differences.").isVisible());
  await page.getByRole("link", { name: "Use", exact: true }).click();
  await box(page, "replicas").fill("0");
  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByText("Version 1 cannot be rendered:").waitFor();
  assert.match(await page.locator("#difference").innerText(), /replicas: at least 1\./);
  await page.getByRole("link", { name: "Preview changes" }).click();
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("1 object would change, 0 would not.").waitFor();
  assert.match(await page.locator("#changes").innerText(), /1 object\s+good\s+\(version 1\)/);
  assert.ok((await page.locator("#changes ins").allTextContents()).includes("kind: Secret"));
  assert.ok((await numbers(page.locator("#changes"))).includes("|3"));
}

/** Versions are read one page at a time. */
async function readsVersions(page) {
  let last = await ask("POST", "/templates", { name: "busy", template_content: "1", parameters_schema: "{}" });
  const all = [last];
  for (let version = 2; version <= 30; version += 1) all.push(last = await ask("PUT", `/templates/${last.id}`, { template_content: `${version}`, parameters_schema: "{}" }));
  await visit(page, `/templates/${all[0].id}`);
  const options = () => page.locator("#version option").allTextContents();
  assert.equal((await options()).length, 26);
  assert.equal((await options()).at(-1), "version 1");
  await page.getByRole("button", { name: "Older versions" }).click();
  await until("all versions", options, (found) => found.length === 30 && new Set(found).size === 30);
  assert.deepEqual((await options()).slice(-2), ["version 2", "version 1"]);
  await focused(page, "on the versions", (at) => at.includes("version"));
  assert.ok(await page.getByRole("button", { name: "Older versions" }).isHidden());
  await page.getByRole("link", { name: "Compare" }).click();
  await until("all versions to compare with", () => page.locator("#other option").count(), (count) => count === 29);
  for (const { id } of all) await ask("DELETE", `/templates/${id}`);
}

/** A render error is shown at its line of the template. */
async function marksLines(page, { broken }) {
  await visit(page, `/templates/${broken.id}`);
  const raw = page.getByLabel("Parameters as JSON");
  await raw.fill(`{"given": 1}`);
  await until("an error", () => page.locator("#result").innerText(), (text) => /line 2, column [^]*available: given/.test(text));
  await page.getByRole("link", { name: "Source" }).click();
  await until("the line", () => page.locator("#content .marked").allTextContents(), ([line]) => /b: \{\{ not_given \}\}.*not_given/.test(line ?? ""));
  await page.getByRole("link", { name: "Use", exact: true }).click();
  assert.equal(await raw.inputValue(), `{"given": 1}`);
  await raw.fill(`{"given": 1, "not_given": 2}`);
  await until("no line", () => page.locator("#result").innerText(), (text) => /b: 2/.test(text));
  await page.getByRole("link", { name: "Source" }).click();
  assert.equal(await page.locator("#content .marked").count(), 0);
}

module.exports = [colours, survivesHostileTexts, copies, compares, readsVersions, marksLines];
