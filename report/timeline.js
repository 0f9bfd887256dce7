import { element, fitted, grouped, moment, roundStep, shortBytes, shortTime, tickLabel } from "./figures.js";
import { addToSteps, groupSlices, lowerBound, placesBetween, readLanes, readRequests } from "./lanes.js";

const rowHeight = 20;
const axisHeight = 24;
const mostProcessors = 32;
const processesAtFirst = 12;
/** Slices of one lane in a pixel from which on their share is drawn, not each. */
const dense = 1.5;
/** Units of 100 ns: closer than that nothing is to be seen. */
const closest = 200;

/** What the timeline draws, by row. */
class Timeline {
  constructor(facts, lanes, requests) {
    this.facts = facts;
    this.lanes = lanes;
    this.requests = requests;
    this.end = Math.max(1, facts.duration);
    this.from = 0;
    this.to = this.end;
    this.search = "";
    this.selected = null;
    this.shownProcesses = processesAtFirst;
    this.expanded = new Set();
    const processes = Int32Array.from([-1, ...facts.threads.map(thread => thread[0])]);
    this.processOf = code => processes[code];
    this.byProcess = groupSlices(lanes, facts.processes.length, processes);
    this.byThread = new Map();
    this.matches = null;
    this.#listRows();
  }

  #listRows() {
    const rows = [];
    if (this.lanes.length > 1) rows.push({ kind: "all", label: "all processors" });
    const processors = Math.min(this.lanes.length, mostProcessors);
    for (let i = 0; i < processors; ++i)
      rows.push({ kind: "processor", lane: i, label: `processor ${i}` });
    for (const disk of this.facts.disks)
      rows.push({ kind: "disk", disk, label: disk === 65535 ? "disk ?" : `disk ${disk}` });
    const processes = this.lanes.length
      ? Math.min(this.shownProcesses, this.facts.processes.length) : 0;
    for (let i = 0; i < processes; ++i) {
      rows.push({ kind: "process", process: i, label: this.processLabel(i) });
      if (this.expanded.has(i)) this.#addThreads(rows, i);
    }
    this.rows = rows;
  }

  #addThreads(rows, process) {
    const most = 100;
    let shown = 0;
    this.facts.threads.forEach(([owner], index) => {
      if (owner !== process || shown >= most || !this.placesOfThread(index + 1).some(p => p.length))
        return;
      ++shown;
      rows.push({ kind: "thread", code: index + 1, label: `   ${this.threadLabel(index + 1)}` });
    });
  }

  placesOfThread(code) {
    let places = this.byThread.get(code);
    if (!places) {
      const process = this.processOf(code);
      const all = process >= 0 ? this.byProcess[process]
        : this.lanes.map(lane => Int32Array.from(lane.begin.keys()));
      places = this.lanes.map((lane, i) => all[i].filter(place => lane.thread[place] === code));
      this.byThread.set(code, places);
    }
    return places;
  }

  processLabel(index) {
    const [name, pid] = this.facts.processes[index];
    return `${name || "process"} (${pid})`;
  }

  threadLabel(code) {
    const [, tid, name] = this.facts.threads[code - 1];
    return name ? `${name} (${tid})` : `thread ${tid}`;
  }

  whoIs(code) {
    if (code === 0) return "not known";
    const process = this.processOf(code);
    return process < 0 ? this.threadLabel(code)
      : `${this.processLabel(process)}, ${this.threadLabel(code)}`;
  }

  toggle(process) {
    if (!this.expanded.delete(process)) this.expanded.add(process);
    this.#listRows();
  }

  showMore() {
    this.shownProcesses += 25;
    this.#listRows();
  }

  get hasMore() {
    return this.lanes.length > 0 && this.shownProcesses < this.facts.processes.length;
  }

  /** Threads whose name, number or process has the text. */
  find(text) {
    this.search = text.toLowerCase();
    this.matches = null;
    if (!this.search) return 0;
    const processes = this.facts.processes.map((_, i) =>
      this.processLabel(i).toLowerCase().includes(this.search));
    this.matches = new Uint8Array(this.facts.threads.length + 1);
    let count = 0;
    this.facts.threads.forEach(([process], index) => {
      const hit = processes[process]
        || this.threadLabel(index + 1).toLowerCase().includes(this.search);
      if (hit) ++count;
      this.matches[index + 1] = hit ? 1 : 0;
    });
    return count;
  }

  /** The first slice of a match that begins behind a moment, around again at the end. */
  nextMatch(after) {
    if (!this.matches) return null;
    for (const start of [after, -1]) {
      let best = null;
      this.lanes.forEach((lane, number) => {
        for (let i = lowerBound(lane.begin, start + 1e-6); i < lane.count; ++i) {
          if (!this.matches[lane.thread[i]] || lane.begin[i] <= start) continue;
          if (!best || lane.begin[i] < best.begin)
            best = { kind: "slice", lane: number, place: i, begin: lane.begin[i] };
          break;
        }
      });
      if (best) return best;
    }
    return null;
  }

  show(from, to) {
    const span = Math.min(this.end, Math.max(closest, to - from));
    this.from = Math.max(0, Math.min(this.end - span, from));
    this.to = this.from + span;
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const span = (this.to - this.from) * factor;
    const left = (at - this.from) / (this.to - this.from);
    this.show(at - span * left, at - span * left + Math.max(closest, span));
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  /** What is at a moment in a row. */
  at(row, time) {
    if (row.kind === "processor") return this.#sliceAt(row.lane, null, time);
    if (row.kind === "process" || row.kind === "thread") {
      const places = row.kind === "process" ? this.byProcess[row.process]
        : this.placesOfThread(row.code);
      for (let lane = 0; lane < this.lanes.length; ++lane) {
        const found = this.#sliceAt(lane, places[lane], time);
        if (found) return found;
      }
    }
    if (row.kind === "disk") return this.#requestAt(row.disk, time);
    return null;
  }

  /** Within two pixels, so that what is thin can be met. */
  #sliceAt(number, places, time) {
    const lane = this.lanes[number];
    const near = (this.to - this.from) / 500;
    let low;
    let high;
    let placeOf;
    if (places) {
      [low, high] = placesBetween(lane, places, time - near, time + near);
      placeOf = i => places[i];
    } else {
      low = Math.max(0, lowerBound(lane.begin, time - near) - 1);
      high = lowerBound(lane.begin, time + near);
      placeOf = i => i;
    }
    let best = null;
    let distance = near;
    for (let i = low; i < high && i < low + 5000; ++i) {
      const place = placeOf(i);
      const away = Math.max(0, lane.begin[place] - time, time - lane.end[place]);
      if (away < distance || (away === 0 && best === null)) {
        distance = away;
        best = { kind: "slice", lane: number, place, begin: lane.begin[place] };
      }
    }
    return best;
  }

  #requestAt(disk, time) {
    const all = this.requests;
    const near = (this.to - this.from) / 500;
    let best = null;
    const from = lowerBound(all.begin, time - near - all.longest);
    for (let i = from; i < all.count && all.begin[i] <= time + near; ++i) {
      if (all.disk[i] !== disk || all.begin[i] + all.length[i] < time - near) continue;
      if (best === null || all.length[i] < all.length[best]) best = i;
    }
    return best === null ? null : { kind: "request", place: best, begin: all.begin[best] };
  }
}

/** Draws a Timeline on a canvas. */
class Painter {
  constructor(canvas, timeline) {
    this.canvas = canvas;
    this.timeline = timeline;
    this.g = canvas.getContext("2d");
    this.resize();
  }

  get gutter() {
    return this.width < 600 ? 110 : 200;
  }

  resize(scale = window.devicePixelRatio || 1) {
    const height = axisHeight + this.timeline.rows.length * rowHeight + 4;
    this.width = Math.max(240, this.canvas.parentElement.clientWidth - 2);
    this.height = height;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.height = `${height}px`;
    this.g.setTransform(scale, 0, 0, scale, 0, 0);
  }

  timeAt(x) {
    const { from, to } = this.timeline;
    return from + ((x - this.gutter) / (this.width - this.gutter)) * (to - from);
  }

  xOf(time) {
    const { from, to } = this.timeline;
    return this.gutter + ((time - from) / (to - from)) * (this.width - this.gutter);
  }

  rowAt(y) {
    return this.timeline.rows[Math.floor((y - axisHeight) / rowHeight)] ?? null;
  }

  draw() {
    const style = getComputedStyle(document.documentElement);
    this.dark = matchMedia("(prefers-color-scheme: dark)").matches && !this.printing;
    this.colours = {};
    for (const name of ["ink", "quiet", "line", "soft", "card", "area", "ready", "accent"])
      this.colours[name] = style.getPropertyValue(`--${name}`).trim();
    const g = this.g;
    g.fillStyle = this.colours.card;
    g.fillRect(0, 0, this.width, this.height);
    g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    g.textBaseline = "middle";
    this.#drawAxis();
    g.save();
    g.beginPath();
    g.rect(this.gutter, axisHeight, this.width - this.gutter, this.height - axisHeight);
    g.clip();
    this.timeline.rows.forEach((row, index) => this.#drawRow(row, axisHeight + index * rowHeight));
    this.#drawSelection();
    g.restore();
    this.#drawLabels();
  }

  #drawAxis() {
    const g = this.g;
    const { from, to } = this.timeline;
    const step = roundStep(to - from, Math.max(2, (this.width - this.gutter) / 110));
    g.fillStyle = this.colours.quiet;
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const x = this.xOf(at);
      g.fillRect(x, axisHeight - 5, 1, 5);
      if (x + 60 < this.width) g.fillText(tickLabel(at, step, this.timeline.end), x + 4, axisHeight / 2);
    }
  }

  #drawLabels() {
    const g = this.g;
    g.fillStyle = this.colours.card;
    g.fillRect(0, axisHeight, this.gutter - 4, this.height);
    this.timeline.rows.forEach((row, index) => {
      const y = axisHeight + index * rowHeight;
      const opens = row.kind === "process";
      const sign = opens ? (this.timeline.expanded.has(row.process) ? "▾ " : "▸ ") : "";
      g.fillStyle = opens || row.kind === "all" ? this.colours.ink : this.colours.quiet;
      g.fillText(this.#fitted(sign + row.label, this.gutter - 16), 8, y + rowHeight / 2);
    });
    g.fillStyle = this.colours.line;
    g.fillRect(this.gutter - 4, 0, 1, this.height);
  }

  colourOf(code) {
    const process = this.timeline.processOf(code);
    if (this.timeline.matches && !this.timeline.matches[code])
      return this.dark ? "#3a434b" : "#d5dade";
    if (process < 0) return this.dark ? "#6b7680" : "#98a2ab";
    const hue = (205 + process * 137.508) % 360;
    return `hsl(${hue.toFixed(0)} ${this.dark ? "48% 58%" : "52% 56%"})`;
  }

  #drawRow(row, y) {
    const g = this.g;
    g.fillStyle = this.colours.soft;
    g.fillRect(this.gutter, y + 1, this.width - this.gutter, rowHeight - 2);
    if (row.kind === "all") this.#drawShare(this.timeline.lanes.map(() => null), y);
    if (row.kind === "processor") this.#drawProcessor(row.lane, y);
    if (row.kind === "process") this.#drawPlaces(this.timeline.byProcess[row.process], y);
    if (row.kind === "thread") {
      this.#drawStates(row.code, y);
      this.#drawPlaces(this.timeline.placesOfThread(row.code), y);
    }
    if (row.kind === "disk") this.#drawRequests(row.disk, y);
  }

  /** The places of a lane that are in view: from, up to, and how to find one. */
  #inView(number, places) {
    const { from, to } = this.timeline;
    const lane = this.timeline.lanes[number];
    if (places) return [...placesBetween(lane, places, from, to), i => places[i]];
    return [Math.max(0, lowerBound(lane.begin, from) - 1), lowerBound(lane.begin, to), i => i];
  }

  /** How much of each pixel is taken, of all lanes together. */
  #drawShare(groups, y) {
    const width = Math.floor(this.width - this.gutter);
    const sums = new Float32Array(width);
    const { from, to, lanes } = this.timeline;
    groups.forEach((places, number) => {
      const lane = lanes[number];
      const [low, high, placeOf] = this.#inView(number, places);
      for (let i = low; i < high; ++i) {
        const place = placeOf(i);
        if (lane.share[place] > 0)
          addToSteps(sums, from, to, lane.begin[place], lane.end[place], lane.share[place]);
      }
    });
    const most = groups.every(places => places === null) ? lanes.length : 1;
    this.#drawSums(sums, most, y, this.colours.area);
  }

  #drawSums(sums, most, y, colour) {
    this.g.fillStyle = colour;
    for (let x = 0; x < sums.length; ++x) {
      if (sums[x] <= 0) continue;
      const height = Math.max(1, Math.min(1, sums[x] / most) * (rowHeight - 3));
      this.g.fillRect(this.gutter + x, y + rowHeight - 1 - height, 1, height);
    }
  }

  #drawProcessor(number, y) {
    const [low, high] = this.#inView(number, null);
    if (high - low > (this.width - this.gutter) * dense) {
      const width = Math.floor(this.width - this.gutter);
      const sums = new Float32Array(width);
      const lane = this.timeline.lanes[number];
      for (let i = low; i < high; ++i)
        addToSteps(sums, this.timeline.from, this.timeline.to, lane.begin[i], lane.end[i], lane.share[i]);
      this.#drawSums(sums, 1, y, this.colours.area);
      if (this.timeline.matches) this.#drawMatches(number, low, high, y);
      return;
    }
    for (let i = low; i < high; ++i) this.#drawSlice(this.timeline.lanes[number], i, y);
  }

  /** Which pixels of a dense row have what is searched for. */
  #drawMatches(number, low, high, y) {
    const lane = this.timeline.lanes[number];
    this.g.fillStyle = this.colours.accent;
    for (let i = low; i < high; ++i)
      if (this.timeline.matches[lane.thread[i]])
        this.g.fillRect(this.xOf(lane.begin[i]), y + 1, 1, 4);
  }

  #drawPlaces(groups, y) {
    const views = groups.map((places, number) => this.#inView(number, places));
    const count = views.reduce((sum, [low, high]) => sum + high - low, 0);
    if (count > (this.width - this.gutter) * dense) return this.#drawShare(groups, y);
    views.forEach(([low, high, placeOf], number) => {
      for (let i = low; i < high; ++i) this.#drawSlice(this.timeline.lanes[number], placeOf(i), y);
    });
  }

  #drawSlice(lane, place, y) {
    const g = this.g;
    const x = this.xOf(lane.begin[place]);
    const width = Math.max(0.75, this.xOf(lane.end[place]) - x);
    const code = lane.thread[place];
    if (code === 0) return this.#drawHatched(x, width, y);
    const height = Math.max(2, (rowHeight - 4) * lane.share[place]);
    g.fillStyle = this.colourOf(code);
    g.fillRect(x, y + rowHeight - 2 - height, width > 2 ? width - 0.5 : width, height);
    if (width < 60 || lane.turns[place] > 1) return;
    const left = Math.max(x, this.gutter);
    g.fillStyle = "#16191c";
    g.fillText(this.#fitted(this.timeline.whoIs(code), x + width - left - 8), left + 4, y + rowHeight / 2 + 0.5);
  }

  /** What of a label there is room for, in pixels. */
  #fitted(label, room) {
    const { width } = this.g.measureText(label);
    if (width <= room) return label;
    let shown = fitted(label, Math.max(1, Math.floor((label.length * room) / width)));
    while (shown.length > 1 && this.g.measureText(shown).width > room) shown = fitted(label, [...shown].length - 1);
    return room > 0 ? shown : "";
  }

  /** What is not known. */
  #drawHatched(x, width, y) {
    const g = this.g;
    const left = Math.max(x, this.gutter);
    const right = Math.min(x + width, this.width);
    g.strokeStyle = this.colours.quiet;
    g.globalAlpha = 0.5;
    g.beginPath();
    for (let at = left; at < right; at += 6) {
      g.moveTo(at, y + rowHeight - 3);
      g.lineTo(Math.min(right, at + 5), y + 4);
    }
    g.stroke();
    g.globalAlpha = 1;
  }

  /** Between turns: a line while a thread waits, a raised one while it is ready. */
  #drawStates(code, y) {
    const { lanes, from, to } = this.timeline;
    const turns = [];
    this.timeline.placesOfThread(code).forEach((places, number) => {
      const lane = lanes[number];
      const [low, high] = placesBetween(lane, places, from, to);
      const first = Math.max(0, low - 1);
      const last = Math.min(places.length, high + 1);
      for (let i = first; i < last && turns.length < 6000; ++i)
        turns.push({ lane, place: places[i], begin: lane.begin[places[i]] });
    });
    if (turns.length >= 6000) return;
    turns.sort((a, b) => a.begin - b.begin);
    for (let i = 1; i < turns.length; ++i) this.#drawAbsence(turns[i - 1], turns[i], y);
  }

  #drawAbsence(before, after, y) {
    const g = this.g;
    const left = this.xOf(before.lane.end[before.place]);
    const right = this.xOf(after.begin);
    const details = after.lane.details;
    const at = details ? details.of[after.place] : -1;
    let ready = right;
    if (at >= 0 && details.latency[at] > 0) ready = this.xOf(after.begin - details.latency[at] + 1);
    g.fillStyle = this.colours.quiet;
    g.fillRect(left, y + rowHeight - 4, Math.max(0, Math.min(ready, right) - left), 1);
    g.fillStyle = this.colours.ready;
    if (ready < right) g.fillRect(Math.max(left, ready), y + rowHeight / 2, right - Math.max(left, ready), 3);
  }

  #drawRequests(disk, y) {
    const all = this.timeline.requests;
    const { from, to } = this.timeline;
    const width = Math.floor(this.width - this.gutter);
    const first = lowerBound(all.begin, from - all.longest);
    const last = lowerBound(all.begin, to);
    const sums = new Float32Array(width);
    if (last - first > width) {
      for (let i = first; i < last; ++i)
        if (all.disk[i] === disk)
          addToSteps(sums, from, to, all.begin[i], all.begin[i] + all.length[i], 1);
      return this.#drawSums(sums, 1, y, this.colours.area);
    }
    for (let i = first; i < last; ++i) {
      if (all.disk[i] !== disk) continue;
      const x = this.xOf(all.begin[i]);
      const size = Math.max(1, this.xOf(all.begin[i] + all.length[i]) - x);
      this.g.fillStyle = this.colourOf(all.thread[i]);
      // Writes stand lower than reads.
      const top = all.action[i] === 1 ? y + rowHeight / 2 : y + 3;
      this.g.fillRect(x, top, size, rowHeight / 2 - 3);
    }
  }

  #drawSelection() {
    const selected = this.timeline.selected;
    if (!selected) return;
    const [begin, end] = this.spanOf(selected);
    const x = this.xOf(begin);
    const g = this.g;
    g.strokeStyle = this.colours.accent;
    g.lineWidth = 1.5;
    g.strokeRect(x - 1, axisHeight, Math.max(3, this.xOf(end) - x + 2), this.height - axisHeight - 2);
    g.lineWidth = 1;
  }

  spanOf(selected) {
    if (selected.kind === "request") {
      const begin = this.timeline.requests.begin[selected.place];
      return [begin, begin + this.timeline.requests.length[selected.place]];
    }
    const lane = this.timeline.lanes[selected.lane];
    return [lane.begin[selected.place], lane.end[selected.place]];
  }
}

/** The facts of what was chosen, as pairs of a name and a text. */
function describe(timeline, selected) {
  if (selected.kind === "request") return describeRequest(timeline, selected.place);
  const { facts } = timeline;
  const lane = timeline.lanes[selected.lane];
  const place = selected.place;
  const length = lane.end[place] - lane.begin[place];
  const pairs = [["Processor", String(selected.lane)],
    ["From", moment(lane.begin[place])], ["For", shortTime(length)]];
  if (lane.thread[place] === 0)
    return [...pairs, ["Ran", "not known: no switch of the trace tells, or events are missing"]];
  if (lane.turns[place] > 1)
    return [...pairs, ["Turns", `${grouped(lane.turns[place])}, drawn as one`],
      ["Busy", shortTime(length * lane.share[place])],
      ["Longest turn", timeline.whoIs(lane.thread[place])]];
  pairs.splice(1, 0, ["Ran", timeline.whoIs(lane.thread[place])]);
  const at = lane.details ? lane.details.of[place] : -1;
  if (at < 0) return [...pairs, ["More", "left out of this page for its size"]];
  const details = lane.details;
  const waker = details.waker[at];
  if (details.latency[at] > 0) {
    pairs.push(["Ready before", shortTime(details.latency[at] - 1)]);
    pairs.push(["Made ready by", waker === 0 ? "not known" : waker === 1 ? "an interrupt"
      : timeline.whoIs(waker - 1)]);
  }
  if (details.priority[at] >= 0) pairs.push(["Priority", String(details.priority[at])]);
  if (details.state[at] > 0) {
    const reason = details.reason[at] > 0 ? ` (${facts.reasons[details.reason[at] - 1]})` : "";
    pairs.push(["Then", facts.states[details.state[at] - 1] + reason]);
  }
  pairs.push(["Event", `0x${details.buffer[at].toString(16)}+0x${details.offset[at].toString(16)}`]);
  return pairs;
}

function describeRequest(timeline, place) {
  const all = timeline.requests;
  const pairs = [["Disk", all.disk[place] === 65535 ? "not known" : String(all.disk[place])],
    ["Request", timeline.facts.actions[all.action[place]]],
    ["From", moment(all.begin[place])], ["Took", shortTime(all.length[place])],
    ["Size", all.bytes[place] > 0 ? shortBytes(all.bytes[place] - 1) : "not known"],
    ["By", timeline.whoIs(all.thread[place])]];
  const file = all.file[place];
  if (file > 0) pairs.push(["File", timeline.facts.files[file - 1]]);
  return pairs;
}

/** The canvas, what belongs to it, and what hands and keys do with it. */
class TimelineView {
  constructor(home, timeline) {
    this.timeline = timeline;
    this.home = home;
    this.canvas = element("canvas", undefined, {
      tabindex: "0", role: "application", "aria-roledescription": "timeline",
      "aria-label": home.dataset.label,
    });
    this.detail = element("div", undefined, { class: "detail", "aria-live": "polite" });
    this.detail.append(element("p", "Choose a slice to see what it is.", { class: "hint" }));
    this.status = element("output", "");
    const frame = element("div");
    frame.append(this.canvas);
    this.more = element("button", "More processes", { type: "button" });
    const below = element("div", undefined, { class: "tools" });
    below.append(this.more);
    home.append(this.#makeTools(), frame, below, this.detail);
    this.more.hidden = !timeline.hasMore;
    this.painter = new Painter(this.canvas, timeline);
    this.#listen();
    this.redraw();
  }

  #makeTools() {
    const tools = element("div", undefined, { class: "tools", role: "toolbar", "aria-label": "Timeline" });
    this.input = element("input", undefined, {
      type: "search", placeholder: "Process, thread or id", "aria-label": "Search the timeline",
    });
    const button = (text, label, act) => {
      const made = element("button", text, { type: "button", "aria-label": label });
      made.addEventListener("click", () => { act(); this.redraw(); });
      return made;
    };
    tools.append(this.input, button("Next", "Next match", () => this.next()),
      button("+", "Zoom in", () => this.timeline.zoom(0.5)),
      button("−", "Zoom out", () => this.timeline.zoom(2)),
      button("←", "Earlier", () => this.timeline.pan(-0.25)),
      button("→", "Later", () => this.timeline.pan(0.25)),
      button("All", "All of the trace", () => this.timeline.show(0, this.timeline.end)), this.status);
    this.input.addEventListener("input", () => {
      const count = this.timeline.find(this.input.value);
      this.status.textContent = this.input.value
        ? `${grouped(count)} ${count === 1 ? "thread" : "threads"}` : "";
      this.redraw();
    });
    this.input.addEventListener("keydown", event => {
      if (event.key === "Enter") { this.next(); this.redraw(); }
    });
    return tools;
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.painter.draw();
    });
  }

  next() {
    const after = this.timeline.selected?.begin ?? -1;
    const found = this.timeline.nextMatch(after);
    if (!found) return;
    const [begin, end] = this.painter.spanOf(found);
    const { from, to } = this.timeline;
    if (begin < from || end > to) {
      const span = Math.min(to - from, this.timeline.end);
      this.timeline.show(begin - span / 2, begin + span / 2);
    }
    this.choose(found);
  }

  choose(found) {
    this.timeline.selected = found;
    this.detail.replaceChildren();
    if (!found) {
      this.detail.append(element("p", "Nothing ran there.", { class: "hint" }));
      return;
    }
    const list = element("dl");
    for (const [name, text] of describe(this.timeline, found))
      list.append(element("dt", name), element("dd", text));
    this.detail.append(list);
  }

  #listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
      event.preventDefault();
      const by = event.deltaY || event.deltaX;
      this.timeline.zoom(by > 0 ? 1.25 : 0.8, this.painter.timeAt(this.#place(event).x));
      this.redraw();
    }, { passive: false });
    this.#listenToPointers();
    canvas.addEventListener("keydown", event => this.#key(event));
    document.addEventListener("keydown", event => {
      if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      this.input.focus();
    });
    this.more.addEventListener("click", () => {
      this.timeline.showMore();
      this.more.hidden = !this.timeline.hasMore;
      this.#layOut();
    });
    new ResizeObserver(() => this.#layOut()).observe(this.home);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
  }

  #layOut() {
    this.painter.resize();
    this.redraw();
  }

  #print(printing) {
    this.painter.printing = printing;
    this.painter.resize(printing ? 2 : undefined);
    this.painter.draw();
  }

  #place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  #listenToPointers() {
    const held = new Map();
    let moved = false;
    const spread = () => {
      const [a, b] = [...held.values()];
      return Math.max(1, Math.abs(a.x - b.x));
    };
    this.canvas.addEventListener("pointerdown", event => {
      this.canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, this.#place(event));
      if (held.size === 1) moved = false;
    });
    this.canvas.addEventListener("pointermove", event => {
      const before = held.get(event.pointerId);
      if (!before) return this.#tellRow(this.#place(event));
      const now = this.#place(event);
      if (held.size === 2) {
        const was = spread();
        held.set(event.pointerId, now);
        this.timeline.zoom(was / spread(), this.painter.timeAt(now.x));
        moved = true;
      } else if (moved || Math.abs(now.x - before.x) > 3) {
        moved = true;
        held.set(event.pointerId, now);
        this.timeline.pan((before.x - now.x) / (this.painter.width - this.painter.gutter));
      }
      if (moved) this.redraw();
    });
    for (const name of ["pointerup", "pointercancel"])
      this.canvas.addEventListener(name, event => {
        if (!held.delete(event.pointerId)) return;
        if (!moved && name === "pointerup") this.#click(this.#place(event));
      });
    this.canvas.addEventListener("dblclick", event => {
      this.timeline.zoom(0.25, this.painter.timeAt(this.#place(event).x));
      this.redraw();
    });
  }

  /** All of a label of which there may be no room for all. */
  #tellRow({ x, y }) {
    this.canvas.title = (x < this.painter.gutter && this.painter.rowAt(y)?.label.trim()) || "";
  }

  #click({ x, y }) {
    const row = this.painter.rowAt(y);
    if (!row) return;
    if (x < this.painter.gutter) {
      if (row.kind !== "process") return;
      this.timeline.toggle(row.process);
      this.#layOut();
      return;
    }
    this.choose(this.timeline.at(row, this.painter.timeAt(x)));
    this.redraw();
  }

  #key(event) {
    const { timeline } = this;
    const acts = {
      ArrowLeft: () => timeline.pan(-0.1),
      ArrowRight: () => timeline.pan(0.1),
      "+": () => timeline.zoom(0.5),
      "=": () => timeline.zoom(0.5),
      "-": () => timeline.zoom(2),
      Home: () => timeline.show(0, timeline.end),
      Enter: () => this.next(),
      n: () => this.next(),
      Escape: () => this.choose(null),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
    this.redraw();
  }
}

export function startTimeline(reader, facts) {
  const lanes = readLanes(reader, facts);
  const requests = readRequests(reader, facts.requests);
  const home = document.getElementById("timeline-view");
  if (!home || lanes.length + requests.count === 0) return null;
  return new TimelineView(home, new Timeline(facts, lanes, requests));
}
