// Addresses, lists and searches.

const { HOSTILE, ask, assert, base, focused, until, visit } = require("./helpers.cjs");

const MANY = 60;
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

/** The service searches and pages: no request asks for a whole list. */
async function searches(page, { first }) {
  for (let index = 0; index < MANY; index += 1) {
    await ask("POST", "/templates", { name: `many-${String(index).padStart(2, "0")}`, template_content: "x".repeat(20_000), parameters_schema: "{}" });
  }
  const whole = [];
  let bytes = 0;
  const counted = async (answer) => {
    const url = new URL(answer.url());
    if (!url.pathname.startsWith("/api/v1/")) return;
    const list = /\/(templates|stacks|generators|deployment-objects|versions)$/.test(url.pathname) && answer.request().method() === "GET";
    if (list && !(Number(url.searchParams.get("limit")) <= 100)) whole.push(answer.url());
    bytes += (await answer.body().catch(() => "")).length;
  };
  page.on("response", counted);
  await visit(page, "/templates");
  const rows = () => page.locator("tbody tr td:first-child a").allInnerTexts();
  assert.deepEqual((await rows()).slice(0, 3), ["broken", "many-00", "many-01"]);
  assert.equal((await rows()).length, 25);
  await page.getByRole("link", { name: "Next page" }).click();
  await until("the next page", rows, (names) => names[0] === "many-24");
  await focused(page, "on the title", (at) => at.includes("Templates"));
  await page.getByRole("link", { name: "Next page" }).click();
  await until("the last page", rows, (names) => names.at(-1) === "web" && names.length === 13);
  await page.reload();
  await until("the last page again", rows, (names) => names.at(-1) === "web" && names.length === 13);
  await page.goBack();
  await until("the page before", rows, (names) => names[0] === "many-24");
  await page.getByRole("link", { name: "First page" }).click();
  await until("the first page", rows, (names) => names[0] === "broken");
  const search = page.getByLabel("Search by name");
  await search.focus();
  await page.keyboard.type("WE");
  await until("the found ones", rows, (names) => names.length === 1 && names[0] === "web");
  await focused(page, "on the search", (at) => at.startsWith("INPUT"));
  await page.reload();
  await until("the found ones again", rows, (names) => names.length === 1);
  assert.equal(await search.inputValue(), "WE");
  await search.fill(HOSTILE);
  await page.getByText(`No template has “${HOSTILE}” in its name.`).waitFor();
  await search.fill("web");
  await page.getByRole("link", { name: "web" }).click();
  await page.getByRole("heading", { name: "web" }).waitFor();
  await page.getByRole("link", { name: "Stacks" }).click();
  await until("the stacks", () => title(page), (text) => text === "Stacks");
  page.off("response", counted);
  assert.deepEqual(whole, []);
  // Each page holds 25 templates of 20 kB.
  assert.ok(bytes < 6_000_000, `${bytes} bytes`);
  assert.ok(first);
}

module.exports = [haveAddresses, goBack, searches];
