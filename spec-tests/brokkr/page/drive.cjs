// Tests the page in headless Chromium: `node drive.cjs BASE KEY CHROMIUM`, with an administrator key of an empty catalog
// that only this test uses. Prints errors and exits with 1 if anything is wrong.

const { base, browse, end, fill, inOrder } = require("./helpers.cjs");
const access = require("./access.cjs");
const enter = require("./enter.cjs");
const form = require("./form.cjs");
const places = require("./places.cjs");
const texts = require("./texts.cjs");

/** The console also reports the expected errors of the service. */
function expected(text, url) {
  const path = url.replace(base, "");
  return (/status of 401/.test(text) && /^\/api\/v1\/(auth\/pak|stacks)/.test(path))
    || (/status of 404/.test(text) && /^\/api\/v1\/(objects|deployment-objects|templates)\//.test(path))
    || (/status of 403/.test(text) && /^\/api\/v1\/(templates|deployment-objects|stacks)\//.test(path))
    || (/status of 503/.test(text) && path.endsWith("/stamp"))
    || (/status of 4(00|09|12|22)/.test(text) && /^\/api\/v1\/(templates|stacks|deployment-objects)/.test(path));
}

end(browse(async (page, context) => {
  await inOrder(enter, page);
  const filled = await fill();
  await inOrder([...form, ...texts, ...places, ...access], page, filled, context);
}, expected));
