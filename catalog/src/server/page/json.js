// JSON whose numbers keep their spelling: what a person wrote is what the service gets, however long the number.

/** A number as it is spelled. */
export class Spelled {
  constructor(text) {
    this.text = text;
  }

  valueOf() {
    return Number(this.text);
  }
}

/** JSON text as a value; numbers are `Spelled` where the browser tells how they are. */
export function parse(text) {
  return JSON.parse(text, (_, value, context) => (typeof value === "number" && context?.source ? new Spelled(context.source) : value));
}

/** A value as JSON text. */
export function write(value, indent = "") {
  if (value instanceof Spelled) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const deeper = `${indent}  `;
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => write(item, deeper))]
    : ["{", "}", Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${write(item, deeper)}`)];
  return items.length === 0 ? open + close : `${open}\n${items.map((item) => deeper + item).join(",\n")}\n${indent}${close}`;
}

/** Whether a value is an object of JSON. */
export const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Spelled);

/** A key as a step of a JSON pointer. */
export const step = (key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Sets a property, whatever its name: `__proto__` too. */
export const put = (map, key, value) => Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
