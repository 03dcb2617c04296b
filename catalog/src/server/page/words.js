// Rules of a schema in words: hints before anything is typed, and messages after.

import { isMap, path, step, write } from "./json.js";
import { typeOf } from "./schema.js";

const TYPES = { string: "text", integer: "whole number", number: "number", boolean: "true or false", array: "list", object: "group", null: "null" };
const WITH_ARTICLE = { integer: "a whole number", number: "a number", array: "a list", object: "a group" };
const FORMATS = {
  email: "an email address", uri: "a URL", hostname: "a host name", ipv4: "an IPv4 address", ipv6: "an IPv6 address", uuid: "a UUID",
  date: "a date such as 2025-01-31", time: "a time such as 12:30:00Z", "date-time": "a time such as 2025-01-31T12:30:00Z",
};

const many = (limit, one, more) => `${plain(limit)} ${Number(limit) === 1 ? one : more}`;
const plain = (value) => (typeof value === "string" ? value : write(value));
export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

/** Each keyword's rule in words. */
const RULES = {
  minimum: (limit) => `at least ${plain(limit)}`,
  exclusiveMinimum: (limit) => `more than ${plain(limit)}`,
  maximum: (limit) => `at most ${plain(limit)}`,
  exclusiveMaximum: (limit) => `less than ${plain(limit)}`,
  multipleOf: (limit) => `a multiple of ${plain(limit)}`,
  minLength: (limit) => `at least ${many(limit, "character", "characters")}`,
  maxLength: (limit) => `at most ${many(limit, "character", "characters")}`,
  pattern: (limit) => `matching the pattern ${plain(limit)}`,
  format: (limit) => FORMATS[limit] ?? `in the format ${plain(limit)}`,
  minItems: (limit) => `at least ${many(limit, "entry", "entries")}`,
  maxItems: (limit) => `at most ${many(limit, "entry", "entries")}`,
  minProperties: (limit) => `at least ${many(limit, "property", "properties")}`,
  maxProperties: (limit) => `at most ${many(limit, "property", "properties")}`,
  uniqueItems: (limit) => (limit === true ? "no entry twice" : null),
};

/** Rules in words once they are broken, if these differ. */
const BROKEN = {
  required: (name) => (typeof name === "string" ? "required" : null),
  type: (types) => `must be ${[types].flat().map((type) => WITH_ARTICLE[type] ?? TYPES[type] ?? type).join(" or ")}`,
  pattern: (limit) => `must match the pattern ${plain(limit)}`,
  enum: (values) => (Array.isArray(values) ? `must be one of ${values.slice(0, 10).map(plain).join(", ")}${values.length > 10 ? ", …" : ""}` : null),
  const: (value) => `must be ${plain(value)}`,
};

/** The hint of a field: if it is required (`need`), its type and bounds. */
export function hint(schema, need, asJson) {
  const rules = Object.entries(RULES).filter(([keyword]) => schema[keyword] !== undefined);
  const texts = rules.map(([keyword, words]) => words(schema[keyword])).filter(Boolean);
  const kind = schema.enum || schema.const !== undefined ? null : asJson ? "JSON" : TYPES[typeOf(schema)];
  const given = schema.default === undefined || isMap(schema.default) || Array.isArray(schema.default) ? null : `default ${plain(schema.default)}`;
  return [need, kind, ...texts, given].filter(Boolean).join(" · ");
}

/** A violation in words, below the field at `from`. */
export function told({ pointer, keyword, limit, message }, from = pointer) {
  const words = (Object.hasOwn(BROKEN, keyword) && BROKEN[keyword](limit)) || (Object.hasOwn(RULES, keyword) && RULES[keyword](limit));
  const where = keyword === "required" && typeof limit === "string" ? pointer + step(limit) : pointer;
  const below = where.length > from.length ? path(where.slice(from.length)) : "";
  const text = words || message.replace(/\.$/, "");
  return below ? `${below}: ${text}.` : sentence(text);
}

export { plain };
