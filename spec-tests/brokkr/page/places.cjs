// Addresses, lists and searches.

const { assert, base, focused, until, visit } = require("./helpers.cjs");

const title = (page) => page.locator("h1").innerText();

/** Every place has an address, which works in a new tab and after a reload. Unknown ones are told. */
async function haveAddresses(page, { first, second, good, rendered }) {
  const places = [
    ["/templates", "Templates"], ["/templates/new", "New template"], [`/templates/${first.id}`, "web"], [`/templates/${second.id}?view=compare`, "web"],
    ["/templates/system/web", "web"], ["/stacks", "Stacks"], [`/stacks/${good.id}`, "good"], [`/objects/${rendered.id}`, `Object ${rendered.sequence_id}`], ["/keys", "Keys"], ["/audit", "Audit"],
    ["/stacks/..%2Fkeys", "Not found"], [`/objects/${good.id}`, "Not found"], ["/templates/system/nothing", "Not found"],
  ];
  for (const [path, expected] of places) {
    const answer = await page.goto(base + path);
    assert.equal(answer.status(), 200);
    assert.match(answer.headers()["content-type"], /^text\/html/);
    await until(path, () => page.locator("h1").allInnerTexts(), ([shown]) => shown === expected);
    assert.match(await page.title(), /· dropforge$/);
  }
  assert.equal((await fetch(`${base}/nothing`)).status, 404);
}

/** Back and Forward go through what was seen, and a form stays as it was left. */
async function goBack(page, { first, good, rendered }) {
  await visit(page, "/stacks");
  await page.getByRole("link", { name: "good" }).click();
  await page.waitForURL(`**/stacks/${good.id}`);
  await focused(page, "on the title", (at) => at.includes("good"));
  await page.getByRole("link", { name: `object ${rendered.sequence_id}`, exact: true }).click();
  await page.getByRole("link", { name: "web, version 1" }).click();
  await page.waitForURL(`**/templates/${first.id}`);
  await page.getByRole("textbox", { name: "name", exact: true }).fill("kept");
  await page.getByRole("link", { name: "Source" }).click();
  await page.waitForURL("**?view=source");
  await page.goBack();
  await until("the form", () => page.getByRole("textbox", { name: "name", exact: true }).inputValue(), (value) => value === "kept");
  await page.goBack();
  await until("the object", () => title(page), (text) => text === `Object ${rendered.sequence_id}`);
  await page.goBack();
  await page.goBack();
  await until("the stacks", () => title(page), (text) => text === "Stacks");
  await page.goForward();
  await until("the stack", () => title(page), (text) => text === "good");
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  await focused(page, "on the content", (at) => at.includes("MAIN"));
  assert.equal(await title(page), "good");
}

module.exports = [haveAddresses, goBack];
