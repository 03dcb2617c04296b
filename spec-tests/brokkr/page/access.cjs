// Stacks, objects, keys and the audit trail, for those who may see them.

const { HOSTILE, ask, assert, base, focused, signIn, until, visit } = require("./helpers.cjs");

const main = (page) => page.locator("main").innerText();

async function changesStacks(page, { good }) {
  await visit(page, "/stacks");
  await page.getByText("New stack").click();
  await page.getByRole("button", { name: "Create stack" }).click();
  await page.getByText("Give the stack a name.").waitFor();
  await focused(page, "on the name", (at) => at.startsWith("INPUT"));
  await page.getByLabel("Name").fill("bad");
  await page.getByRole("button", { name: "Create stack" }).click();
  await page.getByText("Choose the generator that owns the stack.").waitFor();
  await page.getByLabel("Owner").selectOption({ label: "team" });
  await page.getByRole("button", { name: "Create stack" }).click();
  await until("a name that is taken", () => page.getByRole("alert").innerText(), (text) => text.length > 0);
  await page.getByLabel("Name").fill("third");
  await page.getByRole("button", { name: "Create stack" }).click();
  await page.getByText("Created the stack third.").waitFor();
  await page.getByLabel("Label", { exact: true }).fill(HOSTILE.replaceAll(" ", ""));
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove <img" }).waitFor();
  await focused(page, "on the label", (at) => at.includes("Label"));
  await page.getByRole("button", { name: "Remove <img" }).click();
  await until("no label", () => page.getByRole("button", { name: "Remove <img" }).count(), (count) => count === 0);
  await focused(page, "on the label", (at) => at.includes("Label"));
  await page.getByLabel("Key", { exact: true }).fill("tier");
  await page.getByLabel("Value", { exact: true }).fill("1");
  await page.getByRole("button", { name: "Add to Annotations" }).click();
  await page.getByText("tier = 1").waitFor();
  await page.getByLabel("Key", { exact: true }).fill("tier");
  await page.getByRole("button", { name: "Add to Annotations" }).click();
  await page.getByText("Value: required.").waitFor();
  await page.getByRole("link", { name: "Use a template" }).click();
  await page.getByRole("link", { name: "broken" }).click();
  await until("the stack of the link", () => page.locator("#stack").evaluate((select) => select.selectedOptions[0].textContent), (name) => name === "third");
  await visit(page, `/stacks/${good.id}`);
  assert.deepEqual(await page.locator("tbody tr td:nth-child(2)").allInnerTexts(), ["ConfigMap", "Pod", "ConfigMap"]);
}

async function verifies(page, { rendered, raw }) {
  await visit(page, `/objects/${rendered.id}`);
  assert.match(await main(page), /web, version 1[^]*"token": "\*\*\*"/);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("✓ Verified: rendering it again gives the same bytes.").waitFor();
  await focused(page, "on the button", (at) => at.includes("Verify"));
  const wrong = { verified: false, problems: ["the engine renders other bytes"], diff: "--- a\n+++ b\n@@ -4,2 +4,2 @@\n a\n-b\n+c\n" };
  await page.route("**/verify", (route) => route.fulfill({ json: wrong }));
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("✗ Not verified:").waitFor();
  assert.match(await page.locator("#verification").innerText(), /other bytes/);
  assert.deepEqual(await page.locator("#verification .number").allTextContents(), ["4", "4", "5", "", "", "5"]);
  await page.unroute("**/verify");
  await visit(page, `/objects/${rendered.id}`);
  await page.getByLabel("YAML").locator("li").nth(6).click();
  await page.locator("#why").getByText("because").or(page.locator("#why").getByText("value of")).first().waitFor();
  assert.match(await page.locator("#why").innerText(), /Line 7[^]*value of replicas = 2[^]*from a default of the schema/);
  await page.getByLabel("Line", { exact: true }).fill("9");
  await page.getByRole("button", { name: "Why?" }).click();
  await page.locator("#why").getByText("which the schema marks secret").waitFor();
  assert.ok(!(await page.locator("#why").innerText()).includes("hunter2"));
  await page.getByLabel("Line", { exact: true }).fill("99");
  await page.getByRole("button", { name: "Why?" }).click();
  await until("the error", () => page.locator("#message").innerText(), (text) => text.includes("no line 99"));
  await visit(page, `/objects/${raw.id}`);
  assert.match(await main(page), /Submitted as YAML, not rendered from a template/);
  assert.equal(await page.locator("img").count(), 0);
}

/** A new key is shown once. Revoking one asks first. */
async function makesKeys(page) {
  await visit(page, "/keys");
  await page.getByText("New generator").first().click();
  await page.getByLabel("Name").first().fill("fourth");
  await page.getByRole("button", { name: "New generator" }).click();
  const pak = await page.locator("#pak").innerText();
  await focused(page, "on the button that copies", (at) => at.includes("Copy"));
  const { generator } = await ask("POST", "/auth/pak", undefined, pak);
  assert.ok(generator);
  await page.reload();
  await page.getByRole("heading", { name: "Generators" }).waitFor();
  assert.ok(!(await main(page)).includes(pak));
  const revoke = page.getByRole("button", { name: `Revoke ${pak.slice(7, 15)}` });
  await revoke.click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await focused(page, "on the button again", (at) => at.includes("Revoke"));
  await ask("POST", "/auth/pak", undefined, pak);
  await revoke.click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await until("no button", () => revoke.count(), (count) => count === 0);
  await focused(page, "on the title", (at) => at.includes("Keys"));
  await page.getByRole("button", { name: "Replace the key of fourth" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
  await until("another key", () => page.locator("#pak").innerText(), (text) => text !== pak);
}

/** The last administrator's key stays. */
async function keepsTheLastKey(page) {
  const last = page.locator("tbody tr", { hasText: "administrator" });
  assert.equal(await last.count(), 1);
  await last.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.locator("#message").getByText("last").waitFor();
  await focused(page, "on the button", (at) => at.includes("Revoke"));
  assert.match(await last.innerText(), /live/);
}

/** Keys have names and an end. Every change is told: who, what, when, from where. */
async function auditsChanges(page, { first }) {
  await page.getByText("New key").first().click();
  await page.getByRole("textbox", { name: "Name" }).last().fill("ci <b>");
  await page.getByLabel("Expires").fill("2999-12-31");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("heading", { name: "The key of ci <b>" }).waitFor();
  const pak = await page.locator("#pak").innerText();
  const row = page.locator("tbody tr", { hasText: "ci <b>" });
  assert.match(await row.innerText(), /read-only\s+expires Dec 3[01], 2999/);
  await page.getByRole("link", { name: "Audit" }).click();
  await page.getByRole("heading", { name: "Audit" }).waitFor();
  const told = page.locator("tbody tr");
  await until("the changes", () => told.count(), (count) => count === 25);
  assert.match(await told.first().innerText(), /key created\s+ci <b>\s+\S.*\s+127\.0\.0\.1/);
  const changes = await page.locator("tbody td:nth-child(2)").allInnerTexts();
  for (const change of ["key replaced", "key revoked", "generator created", "stack annotation added", "stack label removed"]) assert.ok(changes.includes(change), change);
  assert.ok(!(await main(page)).includes(pak));
  while (await page.getByRole("link", { name: "web@1", exact: true }).count() === 0) {
    const address = page.url();
    await page.getByRole("link", { name: "Next page" }).click();
    await until("the next page", () => page.url() !== address);
    await until("the view", () => page.locator("main").getAttribute("aria-busy"), (busy) => busy === null);
  }
  await page.getByRole("link", { name: "web@1", exact: true }).first().click();
  await until("the template", () => page.url(), (url) => url.endsWith(first.id));
}

/** The address stays when the key stops working. */
async function signsOut(page, { good, readonly }) {
  await visit(page, `/stacks/${good.id}`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to dropforge" }).waitFor();
  await focused(page, "on the key", (at) => at.includes("key"));
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  assert.ok(!(await main(page)).includes("good"));
  await signIn(page, readonly);
  await page.getByRole("heading", { name: "good" }).waitFor();
  assert.deepEqual(await page.locator("#places a").allInnerTexts(), ["Templates", "Stacks"]);
  assert.equal(await page.getByRole("link", { name: "Use a template" }).count(), 0);
  await page.route("**/api/v1/stacks/*", (route) => route.fulfill({ status: 401 }));
  await page.getByRole("link", { name: "Stacks", exact: true }).first().click();
  await page.getByRole("link", { name: "good" }).click();
  await page.getByText("This key is no longer valid. Sign in again.").waitFor();
  await page.unroute("**/api/v1/stacks/*");
  await signIn(page, readonly);
  await page.getByRole("heading", { name: "good" }).waitFor();
}

/** A reader changes nothing, a generator sees no one else's templates, and an agent cannot enter. */
async function showsOnesOwn(page, { first, secret, team, agent }) {
  await visit(page, `/templates/${first.id}`);
  assert.match(await main(page), /This key can only read/);
  assert.equal(await page.getByRole("link", { name: "New version" }).count(), 0);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Key").fill(agent);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This key belongs to an agent.").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await signIn(page, team);
  await visit(page, "/templates?search=pri");
  assert.match(await main(page), /No template has “pri” in its name/);
  await page.goto(`${base}/templates/${secret.id}`);
  await until("no template of another", () => main(page), (text) => /cannot be shown|Not found/.test(text));
  await visit(page, "/stacks");
  assert.deepEqual(await page.locator("tbody td:nth-child(2)").allInnerTexts(), ["own", "own", "own"]);
  await page.goto(`${base}/keys`);
  await until("no keys", () => main(page), (text) => /cannot be shown/.test(text));
}

module.exports = [changesStacks, verifies, makesKeys, keepsTheLastKey, auditsChanges, signsOut, showsOnesOwn];
