/** How people read figures; the same as in the tables of the page. */

const millisecond = 1e4;
const second = 1e7;

export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Units of 100 ns. */
export function shortTime(units) {
  if (units === 0) return "0";
  if (units < millisecond) return `${(units / 10).toFixed(1)} µs`;
  if (units < second) return `${(units / millisecond).toFixed(1)} ms`;
  return `${(units / second).toFixed(units < 100 * second ? 3 : 1)} s`;
}

export function shortBytes(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1023.95 && unit + 1 < names.length; ++unit) value /= 1024;
  return `${value.toFixed(1)} ${names[unit]}`;
}

/** "+0.0012345": seconds since the first event. */
export function moment(units) {
  const size = Math.abs(units);
  const fraction = String(size % second).padStart(7, "0");
  return `${units < 0 ? "-" : "+"}${Math.floor(size / second)}.${fraction}`;
}

/** A round step of time of which about `count` are in `span`. */
export function roundStep(span, count) {
  const least = Math.max(1, span / count);
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= least) return factor * power;
  return 10 * power;
}

/** The label of a tick on an axis whose ticks are `step` apart and go up to `end`. */
export function tickLabel(units, step, end) {
  const [size, name] = end >= second ? [second, "s"]
    : end >= millisecond ? [millisecond, "ms"] : [10, "µs"];
  const digits = Math.max(0, Math.min(7, Math.ceil(Math.log10(size / step))));
  return `${(units / size).toFixed(digits)} ${name}`;
}

/**
 * The beginning and end of a label, of which at most `room` characters can be shown: "module!function" and
 * "name (4)" are told apart by both. The title of what it stands in has all of it.
 */
export function fitted(label, room) {
  const characters = [...label];
  if (characters.length <= room) return label;
  const end = characters.length - Math.floor((room - 1) / 2);
  return `${characters.slice(0, Math.floor(room / 2)).join("")}…${characters.slice(end).join("")}`;
}

/** An element with a text and attributes. */
export function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
