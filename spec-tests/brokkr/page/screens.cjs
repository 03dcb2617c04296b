// Checks states of the page with axe at two widths, in light and dark: `node screens.cjs BASE KEY CHROMIUM FOLDER`. Makes
// a screenshot of each in FOLDER, for people to look at.

const { mkdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const { assert, base, browse, end, fill, folder, key, signIn, until, visit } = require("./helpers.cjs");

const axe = require.resolve("axe-core/axe.min.js");
const WIDTHS = [1280, 400];
const SCHEMES = ["light", "dark"];
/** Without this, each width is shown in one scheme. */
const ALL = process.env.DROPFORGE_PAGE === "all";
const ERRORS = `{"name": "Web", "replicas": 100, "ports": []}`;
const box = (page, name) => page.getByRole("textbox", { name, exact: true });

/** Opens the tab with the result on a small screen. */
async function showResult(page) {
  const tab = page.getByRole("tab", { name: "Result" });
  if (await tab.isVisible()) await tab.click();
}

const STATES = {
  async list(page) {
    await visit(page, "/templates");
  },
  async nothingFound(page) {
    await visit(page, "/templates?search=nothing");
  },
  async create(page) {
    await visit(page, "/templates/new");
    await page.getByRole("button", { name: "Fill in an example" }).click();
    await page.getByLabel("Template", { exact: true }).fill("a: {{ b");
    await page.locator(".edit .error").first().waitFor();
  },
  async form(page, { first }) {
    await visit(page, `/templates/${first.id}`);
    await page.getByText("Still to do:").waitFor({ state: "attached" });
  },
  async result(page, { first }) {
    await visit(page, `/templates/${first.id}`);
    await box(page, "name").fill("web");
    await page.getByRole("button", { name: "Add to ports" }).click();
    await page.keyboard.type("443");
    await box(page, "token").fill("hunter2-hunter2");
    await page.locator("#result .t-key").first().waitFor({ state: "attached" });
    await showResult(page);
  },
  async errors(page, { first }) {
    await visit(page, `/templates/${first.id}`);
    await page.getByLabel("Edit as JSON").check();
    await page.getByLabel("Parameters as JSON").fill(ERRORS);
    await page.getByLabel("Edit as JSON").uncheck();
    await showResult(page);
    await page.getByLabel("Stack").selectOption({ label: "bad" });
    await page.getByRole("button", { name: "Instantiate" }).click();
    await until("all errors", () => page.locator("#parameters .error").count(), (count) => count >= 3);
  },
  async asJson(page, { first }) {
    await visit(page, `/templates/${first.id}`);
    await page.getByLabel("Edit as JSON").check();
    await page.getByLabel("Parameters as JSON").fill("{");
  },
  async source(page, { broken }) {
    await visit(page, `/templates/${broken.id}`);
    await page.getByLabel("Parameters as JSON").fill(`{"given": 1}`);
    await until("an error", () => page.locator("#result .error").count());
    await page.getByRole("link", { name: "Source" }).click();
    await page.locator(".marked").waitFor();
  },
  async compare(page, { second }) {
    await visit(page, `/templates/${second.id}`);
    await box(page, "name").fill("web");
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByLabel("Result: diff").waitFor();
  },
  async changes(page, { second }) {
    await visit(page, `/templates/${second.id}?view=changes`);
    await page.locator("#look").click();
    await page.locator("#changes .diff").waitFor();
  },
  async stacks(page) {
    await visit(page, "/stacks");
    await page.getByText("New stack").click();
  },
  async stack(page, { good }) {
    await visit(page, `/stacks/${good.id}`);
  },
  async object(page, { rendered }) {
    await visit(page, `/objects/${rendered.id}`);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("✓ Verified").waitFor();
  },
  async why(page, { rendered }) {
    await visit(page, `/objects/${rendered.id}`);
    await page.getByLabel("YAML").locator("li").nth(9).click();
    await page.locator("#why .reasons").waitFor();
  },
  async notVerified(page, { rendered }) {
    await visit(page, `/objects/${rendered.id}`);
    const wrong = { verified: false, problems: ["the engine renders other bytes"], diff: "@@ -4,2 +4,2 @@\n a\n-b\n+c\n" };
    await page.route("**/verify", (route) => route.fulfill({ json: wrong }));
    await page.getByRole("button", { name: "Verify" }).click();
    await page.locator("#verification .diff").waitFor();
    await page.unroute("**/verify");
  },
  async keys(page) {
    await visit(page, "/keys");
    await page.getByText("New key").first().click();
  },
  async newKey(page) {
    await visit(page, "/keys");
    await page.getByText("New key").first().click();
    await page.getByRole("button", { name: "New key" }).click();
    await page.locator("#pak").waitFor();
  },
  async dialog(page) {
    await visit(page, "/keys");
    await page.getByRole("button", { name: "Replace the key of team" }).click();
    await page.getByRole("dialog").waitFor();
  },
  async audit(page) {
    await visit(page, "/audit");
  },
  async missing(page) {
    await visit(page, "/objects/nothing");
  },
};

const BEFORE = {
  async signIn(page) {
    await page.goto(base);
    await page.getByRole("heading", { name: "Sign in to dropforge" }).waitFor();
  },
  async refused(page) {
    await page.goto(base);
    await page.getByLabel("Key").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("Unknown key.").waitFor();
  },
};

const EMPTY = {
  async empty(page) {
    await visit(page, "/");
    await page.getByRole("heading", { name: "No templates yet" }).waitFor();
  },
};

/** Checks and shows each state at each width and in each scheme. */
async function look(page, states, filled) {
  const wrong = [];
  for (const [name, open] of Object.entries(states)) {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await open(page, filled);
      for (const colorScheme of SCHEMES.filter((_, at) => ALL || at === WIDTHS.indexOf(width))) {
        await page.emulateMedia({ colorScheme });
        const state = `${name}-${width}-${colorScheme}`;
        wrong.push(...(await problems(page, width)).map((problem) => `${state}: ${problem}`));
        await page.screenshot({ path: join(folder, `${state}.png`), fullPage: true, animations: "disabled" });
      }
    }
  }
  assert.deepEqual(wrong, []);
}

async function problems(page, width) {
  // The page's policy forbids scripts of others, but not those of the driver.
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(readFileSync(axe, "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).slice(0, 3).join(", ")}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > width) found.push(`${wide} pixels wide`);
  const text = await page.locator("body").innerText();
  if (/\[object|undefined|NaN/.test(text)) found.push("a value that is not text");
  return found;
}

end(browse(async (page) => {
  mkdirSync(folder, { recursive: true });
  await look(page, BEFORE);
  await page.goto(base);
  await signIn(page, key);
  await look(page, EMPTY);
  const filled = await fill();
  await look(page, STATES, filled);
}, (text) => /status of 4(00|01|04|22)/.test(text)));
