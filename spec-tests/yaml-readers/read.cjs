// Reads documents with the YAML readers of npm and prints the results in the format of `read.py`.

const fs = require("node:fs");
const yaml = require("yaml");
const jsYaml = require("js-yaml");

function shown(value) {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "bigint") return { int: String(value) };
  if (typeof value === "number") return { num: Object.is(value, -0) ? "-0.0" : String(value) };
  if (Array.isArray(value)) return value.map(shown);
  if (value instanceof Map) return { map: [...value].map(([key, item]) => [shown(key), shown(item)]) };
  if (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)
    return { map: Object.entries(value).map(([key, item]) => [key, shown(item)]) };
  return { other: String(value) };
}

function documents(text, version) {
  return yaml.parseAllDocuments(text, { version, intAsBigInt: true }).map((document) => {
    const [error] = [...document.errors, ...document.warnings];
    if (error) throw error;
    return document.toJS({ mapAsMap: true });
  });
}

const yamls = {
  "yaml as 1.2": (text) => documents(text, "1.2"),
  "yaml as 1.1": (text) => documents(text, "1.1"),
  "js-yaml": (text) => jsYaml.loadAll(text),
};
const readers = {
  yaml: yamls,
  kyaml: yamls,
  ndjson: { "JSON.parse": (text) => text.replace(/\n$/, "").split("\n").map((line) => JSON.parse(line)) },
};

const lines = fs.readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean);
for (const { format, text } of lines.map((line) => JSON.parse(line))) {
  for (const [name, read] of Object.entries(readers[format])) {
    let answer;
    try {
      answer = [name, read(text).map(shown)];
    } catch (error) {
      answer = [name, null, String(error)];
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}
