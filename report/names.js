import { element, grouped, shortBytes } from "./figures.js";
import { shape } from "./flame.js";

const timeKinds = ["Created", "Modified", "Changed", "Accessed"];
const mostRows = 200;
const stripWidth = 1000;
const stripHeight = 40;
/** Days from 1601, where the days of names begin, to 1970. */
const daysTo1970 = 134774;

export function dateOf(day) {
  return new Date((day - daysTo1970) * 864e5).toISOString().slice(0, 10);
}

/** The names of one volume, in columns, in the order of their directories. */
export class Names {
  constructor(reader, facts) {
    Object.assign(this, { facts, count: facts.count, names: facts.names });
    const stretches = reader.column(facts.directories.length, Uint32Array);
    this.directory = new Uint32Array(facts.count);
    let at = 0;
    stretches.forEach((size, number) => { this.directory.fill(number, at, at += size); });
    this.flags = reader.column(facts.count, Uint8Array);
    this.size = reader.column(facts.count, Float64Array);
    this.onDisk = reader.column(facts.count, Float64Array);
    this.days = timeKinds.map(() => reader.column(facts.count, Uint32Array));
    this.extents = reader.column(facts.count, Float64Array);
    this.kept = reader.column(facts.count, Uint8Array);
    this.first = new Uint32Array(facts.count);
    let all = 0;
    for (let i = 0; i < facts.count; ++i) { this.first[i] = all; all += this.kept[i]; }
    this.begin = new Float64Array(all);
    this.clusters = new Float64Array(all);
    let end = 0;
    for (let i = 0; i < all; ++i) {
      this.begin[i] = end + reader.signed();
      this.clusters[i] = reader.number();
      end = this.begin[i] + this.clusters[i];
    }
  }

  path(place) {
    return `${this.facts.directories[this.directory[place]]}/${this.names[place]}`;
  }

  /** Of one of the four times, since 1601; 0 where it is not set. */
  day(place, kind) {
    const day = this.days[kind][place];
    return day === 0 ? 0 : day - 1 + this.facts.firstDay;
  }

  /** Where `text` is in the path, capitals aside, and a time lies between two days, if any are wanted. */
  find(text, times) {
    this.lower ??= Array.from({ length: this.count }, (_, place) => this.path(place).toLowerCase());
    const wanted = text.toLowerCase();
    const found = [];
    for (let place = 0; place < this.count; ++place) {
      if (times) {
        const day = this.day(place, times.kind);
        if (day < times.from || day > times.to) continue;
      }
      if (this.lower[place].includes(wanted)) found.push(place);
    }
    return found;
  }

  /** Of the unnamed stream. */
  sizeText(place) {
    return this.size[place] === 0 ? "none" : shortBytes(this.size[place] - 1);
  }

  /** What a file takes is not known where the size of clusters is not: of an $MFT alone. */
  onDiskText(place) {
    return this.facts.clusterSize === 0 && this.extents[place] > 0 ? "not known" : shortBytes(this.onDisk[place]);
  }

  extentsOf(place) {
    return Array.from({ length: this.kept[place] }, (_, i) =>
      [this.begin[this.first[place] + i], this.clusters[this.first[place] + i]]);
  }
}

/** The search, what it finds, and where the chosen file lies. */
export class NamesView {
  constructor(home, names) {
    Object.assign(this, { names, times: null });
    this.input = element("input", undefined, {
      type: "search", placeholder: "Part of a path", "aria-label": `Search: ${home.dataset.label}`,
    });
    this.input.addEventListener("input", () => this.show());
    this.status = element("output", "");
    const tools = element("div", undefined, { class: "tools" });
    tools.append(this.input, this.status);
    this.list = element("div", undefined, {
      class: "table found", tabindex: "0", role: "region", "aria-label": `Found: ${home.dataset.label}`,
    });
    this.detail = element("div", undefined, { class: "detail", "aria-live": "polite" });
    this.detail.append(element("p", "Choose a name to see where its file lies.", { class: "hint" }));
    home.append(tools, this.list, this.detail);
    this.show();
  }

  /** Only names of which the time of that kind lies in these days; null: all. */
  setTimes(times) {
    this.times = times;
    this.show();
  }

  show() {
    const { names } = this;
    const found = names.find(this.input.value, this.times);
    const when = this.times
      ? `, ${timeKinds[this.times.kind].toLowerCase()} ${dateOf(this.times.from)} to ${dateOf(this.times.to)}` : "";
    const rest = found.length > mostRows ? `, the first ${mostRows} are shown` : "";
    this.status.textContent = `${grouped(found.length)} of ${grouped(names.count)} names${when}${rest}`;
    const table = element("table");
    const head = table.createTHead().insertRow();
    for (const [title, kind] of [["Name", "w"], ["On disk", "n"], ["Extents", "n"], ["Modified", "w"]])
      head.append(element("th", title, { scope: "col", class: kind }));
    const body = table.createTBody();
    for (const place of found.slice(0, mostRows)) body.append(this.#row(place));
    this.list.replaceChildren(table);
  }

  #row(place) {
    const { names } = this;
    const row = element("tr");
    const cell = element("td");
    const button = element("button", names.path(place), { type: "button", class: "link" });
    button.addEventListener("click", () => this.choose(place));
    cell.append(button);
    const modified = names.day(place, 1);
    row.append(cell, element("td", names.onDiskText(place), { class: "n" }),
      element("td", grouped(names.extents[place]), { class: "n" }),
      element("td", modified ? dateOf(modified) : "-", { class: "w" }));
    return row;
  }

  choose(place) {
    const { names } = this;
    const flags = names.flags[place];
    const pairs = [["Path", names.path(place)],
      ["What", `${flags & 1 ? "deleted " : ""}${flags & 2 ? "directory" : "file"}`],
      ["Size", `${names.sizeText(place)}, on the disk ${names.onDiskText(place)}`]];
    timeKinds.forEach((kind, number) => {
      const day = names.day(place, number);
      if (day) pairs.push([kind, dateOf(day)]);
    });
    const extents = names.extentsOf(place);
    const left = names.extents[place] - extents.length;
    if (extents.length) {
      const size = names.facts.clusterSize;
      const text = extents.slice(0, 16).map(([begin, count]) => (size > 0
        ? `${grouped(begin * size)} (${shortBytes(count * size)})` : `${grouped(begin)} (${grouped(count)})`)).join(", ");
      const more = Math.max(0, extents.length - 16) + left;
      pairs.push([size > 0 ? "From byte" : "From cluster", text + (more ? `, and ${grouped(more)} more` : "")]);
    } else if (names.extents[place] === 0) {
      pairs.push(["Lies", "in its record, or nowhere"]);
    }
    const list = element("dl");
    for (const [name, text] of pairs) list.append(element("dt", name), element("dd", text));
    this.detail.replaceChildren(list);
    if (extents.length && names.facts.clusters > 0) this.detail.append(this.#strip(extents));
  }

  /** From the start of the volume to its end. */
  #strip(extents) {
    const { clusters } = this.names.facts;
    const drawing = shape("svg", {
      class: "place", viewBox: `0 0 ${stripWidth} ${stripHeight}`, preserveAspectRatio: "none", role: "img",
      "aria-label": "Where the file lies, from the start to the end of the volume",
    });
    for (const [begin, count] of extents) {
      if (begin >= clusters) continue;
      const part = Math.min(count, clusters - begin) / clusters;
      drawing.append(shape("rect", {
        class: "area", x: ((stripWidth * begin) / clusters).toFixed(2), y: 0,
        width: Math.max(1.5, stripWidth * part).toFixed(2), height: stripHeight,
      }));
    }
    return drawing;
  }
}

/** Lets a stretch of an activity chart be chosen, by pointer or arrows. */
class Brush {
  constructor(figure, view, others) {
    Object.assign(this, { view, others, kind: Number(figure.dataset.kind), range: null });
    this.first = Number(figure.dataset.first);
    this.step = Number(figure.dataset.step);
    this.bins = Number(figure.dataset.bins);
    this.drawing = figure.querySelector("svg");
    const height = this.drawing.viewBox.baseVal.height;
    this.mark = shape("rect", { class: "brush", y: 0, height, x: 0, width: 0 });
    this.drawing.append(this.mark);
    this.drawing.setAttribute("tabindex", "0");
    this.drawing.setAttribute("role", "application");
    this.drawing.setAttribute("aria-roledescription", "chart whose days can be chosen");
    figure.append(element("p", "Drag, or use the arrows (with Shift to widen) and Escape, to choose days for the names below.",
      { class: "hint" }));
    this.#listen();
  }

  set(range) {
    for (const other of this.others) if (other !== this) other.clear();
    this.range = range && [Math.max(0, Math.min(...range)), Math.min(this.bins - 1, Math.max(...range))];
    this.#draw();
    this.view.setTimes(this.range && {
      kind: this.kind, from: this.first + this.range[0] * this.step,
      to: this.first + (this.range[1] + 1) * this.step - 1,
    });
  }

  clear() {
    this.range = null;
    this.#draw();
  }

  #draw() {
    this.mark.setAttribute("x", this.range ? this.range[0] : 0);
    this.mark.setAttribute("width", this.range ? this.range[1] + 1 - this.range[0] : 0);
  }

  #listen() {
    const place = event => {
      const box = this.drawing.getBoundingClientRect();
      const part = (event.clientX - box.left) / box.width;
      return Math.max(0, Math.min(this.bins - 1, Math.floor(part * this.bins)));
    };
    let from = null;
    this.drawing.addEventListener("pointerdown", event => {
      from = place(event);
      this.drawing.setPointerCapture(event.pointerId);
    });
    this.drawing.addEventListener("pointermove", event => { if (from !== null) this.set([from, place(event)]); });
    this.drawing.addEventListener("pointerup", event => {
      if (from !== null) this.set([from, place(event)]);
      from = null;
    });
    this.drawing.addEventListener("pointercancel", () => { from = null; });
    this.drawing.addEventListener("keydown", event => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") this.set(null);
      else if (by) {
        const [begin, end] = this.range ?? [by > 0 ? -1 : this.bins, by > 0 ? -1 : this.bins];
        this.set(event.shiftKey ? [begin, end + by] : [begin + by, end + by]);
      } else return;
      event.preventDefault();
    });
  }
}

export function startNames(reader, facts) {
  for (const volume of facts.volumes ?? []) {
    const names = new Names(reader, volume);
    const home = document.getElementById(volume.id);
    if (!home) continue;
    const view = new NamesView(home, names);
    const brushes = [];
    for (const figure of document.querySelectorAll(`figure[data-brush="${volume.id}"]`))
      brushes.push(new Brush(figure, view, brushes));
  }
}
