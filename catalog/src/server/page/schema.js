// Questions about JSON Schemas.

import { Spelled, isMap } from "./json.js";

const MAX_REFERENCES = 20;
export const MAX_DEPTH = 8;
export const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The target of a reference within the document. */
function target(reference, root) {
  try {
    const keys = decodeURIComponent(reference.slice(1)).split("/").slice(1);
    return keys.reduce((at, key) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], root);
  } catch {
    return undefined;
  }
}

/** Follows the references of a schema within the document and collects them in `seen`. */
export function resolved(schema, root, seen = []) {
  let found = schema;
  for (let hops = 0; isMap(found) && typeof found.$ref === "string" && hops < MAX_REFERENCES; hops += 1) {
    const { $ref, ...beside } = found;
    seen.push($ref);
    const there = $ref.startsWith("#") ? target($ref, root) : undefined;
    found = isMap(there) ? { ...there, ...beside } : {};
  }
  return isMap(found) ? found : {};
}

/** The only type other than null, if there is one. */
export function typeOf(schema) {
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  if (types.length === 1) return types[0];
  return types.length === 0 && isMap(schema.properties) ? "object" : null;
}

export const isSecret = (schema) => schema.writeOnly === true || schema["x-secret"] === true || schema.format === "password";

/** Returns true if fields can show a value. */
export function fits(value, given, root, depth = 0) {
  const schema = resolved(given, root);
  if (value === undefined || depth > MAX_DEPTH || Array.isArray(schema.enum) || schema.const !== undefined) return true;
  const inside = (item, of) => fits(item, of, root, depth + 1);
  switch (typeOf(schema)) {
    case "boolean": return true;
    case "string": return typeof value === "string";
    case "integer": case "number": return value instanceof Spelled || typeof value === "number" || (typeof value === "string" && !NUMBER.test(value));
    case "object": return !isMap(schema.properties)
      || (isMap(value) && Object.entries(value).every(([key, item]) => inside(item, Object.getOwnPropertyDescriptor(schema.properties, key)?.value)));
    case "array": return !isMap(schema.items) || (Array.isArray(value) && value.every((item) => inside(item, schema.items)));
    default: return true;
  }
}
