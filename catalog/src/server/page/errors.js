// Errors and warnings of the service as lists.

import { h } from "./dom.js";
import { told } from "./words.js";

const notes = (texts) => texts.map((text) => h("span", { class: "note" }, text));

/** An error and those reported with it. */
export const withOthers = (error) => [error, ...(error.details?.also ?? [])];

/** Notes about an error: missing labels and annotations, help, available names. */
function more({ details }) {
  const missing = [
    ...(details?.missing_labels ?? []).map((label) => `The stack has no label ${label}.`),
    ...(details?.missing_annotations ?? []).map(([key, value]) => `The stack has no annotation ${key} = ${value}.`),
  ];
  const found = [...(details?.diagnostics ?? []), ...(details?.findings ?? [])];
  const help = found.flatMap((one) => [one.help, one.available?.length > 0 && `available: ${one.available.join(", ")}`]);
  return [...missing, ...help.filter(Boolean)];
}

/** Errors without those of a render whose parameters were invalid, which mostly follow from it. */
export function causes(errors) {
  const invalid = errors.some((error) => error.details?.violations);
  return errors.filter((error) => !invalid || error.code !== "template_render_failed");
}

/** Violations of an error in words. */
function violations(error) {
  const found = error.details?.violations;
  return found ? found.map((one) => told(one, "")) : error.details?.validation_errors ?? [];
}

/** A list of errors with their notes. */
export function listed(errors, { fields = true } = {}) {
  const about = (error) => [...(fields ? violations(error) : []), ...more(error)];
  return h("ul", { class: "errors" }, errors.map((error) => h("li", { class: "error" }, error.message, notes(about(error)))));
}

/** Warnings with their lines. */
export function warned(findings) {
  const at = ({ line, column }) => (line ? `line ${line}${column ? `, column ${column}` : ""}: ` : "");
  return h("ul", { class: "warnings" }, findings.map((one) => h("li", {}, at(one), one.message, notes(one.help ? [one.help] : []))));
}

/** Messages by line of the template. */
export function marks(errors) {
  const lines = new Map();
  for (const one of errors.flatMap((error) => error.details?.diagnostics ?? error.details?.findings ?? [])) {
    if (one.line) lines.set(one.line, [...(lines.get(one.line) ?? []), one.message]);
  }
  return lines;
}
