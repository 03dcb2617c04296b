// JSON whose numbers keep their spelling, so that long numbers reach the service unchanged.

/** A number with its spelling. */
export class Spelled {
  constructor(text) {
    this.text = text;
  }

  valueOf() {
    return Number(this.text);
  }
}

/** Parses JSON text. Numbers are `Spelled` if the browser provides their source. */
export function parse(text) {
  return JSON.parse(text, (_, value, context) => (typeof value === "number" && context?.source ? new Spelled(context.source) : value));
}

/** Formats a value as JSON text. */
export function write(value, indent = "") {
  if (value instanceof Spelled) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const deeper = `${indent}  `;
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => write(item, deeper))]
    : ["{", "}", Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${write(item, deeper)}`)];
  return items.length === 0 ? open + close : `${open}\n${items.map((item) => deeper + item).join(",\n")}\n${indent}${close}`;
}

/** Formats JSON text. Other text is returned unchanged. */
export function formatted(text) {
  try {
    return write(parse(text));
  } catch {
    return text;
  }
}

/** Returns true if a value is a JSON object. */
export const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Spelled);

/** Formats a key as a JSON pointer token. */
export const step = (key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** A JSON pointer as a path such as `image.tag`. */
export const path = (pointer) => pointer.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");

/** Sets a property of any name, including `__proto__`. */
export const put = (map, key, value) => Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
