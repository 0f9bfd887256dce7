import { element, fitted, shortTime } from "./figures.js";

const boxHeight = 18;
const flameWidth = 1000;
/** Of the drawing's width: what is narrower is not drawn. */
const narrowest = 0.6;
const svgSpace = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function shape(tag, attributes) {
  const made = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** A tree of calls: of each node its parent, its name and its time with all that is below it. */
export class CallTree {
  constructor(parents, names, totals) {
    this.parents = parents;
    this.names = names;
    this.totals = totals;
    this.children = parents.map(() => []);
    for (let i = 1; i < parents.length; ++i) this.children[parents[i]].push(i);
  }

  /** Where nodes are drawn when one of them has the whole width: [node, x, width, depth]. */
  layOut(root) {
    const boxes = [];
    const ancestors = [];
    for (let at = root; at !== 0;) ancestors.unshift(at = this.parents[at]);
    ancestors.forEach((node, depth) => boxes.push([node, 0, flameWidth, depth]));
    const open = [[root, 0, flameWidth, ancestors.length]];
    while (open.length) {
      const box = open.pop();
      const [node, x, size, depth] = box;
      boxes.push(box);
      let at = x;
      for (const child of this.children[node]) {
        const part = this.totals[node] > 0 ? (size * this.totals[child]) / this.totals[node] : 0;
        if (part >= narrowest) open.push([child, at, part, depth + 1]);
        at += part;
      }
    }
    return boxes;
  }
}

/** From a text, always the same: neighbours differ, and a function has one colour everywhere. */
function colourOf(name) {
  let hash = 7;
  for (const character of name) hash = (hash * 31 + character.codePointAt(0)) % 997;
  return `hsl(${20 + (hash % 40)} ${45 + (hash % 20)}% ${66 + (hash % 12)}%)`;
}

class FlameView {
  constructor(home, tree) {
    this.tree = tree;
    this.root = 0;
    this.search = "";
    this.drawing = shape("svg", { class: "flame", role: "group", "aria-label": home.dataset.label });
    this.detail = element("output", "");
    const input = element("input", undefined, {
      type: "search", placeholder: "Function, module or thread",
      "aria-label": `Search: ${home.dataset.label}`,
    });
    input.addEventListener("input", () => {
      this.search = input.value.toLowerCase();
      this.draw();
    });
    const all = element("button", "All", { type: "button", "aria-label": "All of the graph" });
    all.addEventListener("click", () => this.show(0));
    const tools = element("div", undefined, { class: "tools" });
    tools.append(input, all, this.detail);
    const scroll = element("div", undefined, { class: "scroll" });
    scroll.append(this.drawing);
    home.append(tools, scroll);
    this.draw();
  }

  show(node) {
    this.root = node;
    this.draw();
    this.drawing.querySelector(`[data-node="${node}"]`)?.focus({ preventScroll: true });
  }

  tell(node) {
    const { totals, names } = this.tree;
    const share = totals[0] > 0 ? ((100 * totals[node]) / totals[0]).toFixed(1) : "0";
    return `${names[node]}: ${shortTime(totals[node])}, ${share} %`;
  }

  draw() {
    const boxes = this.tree.layOut(this.root);
    const depth = boxes.reduce((most, box) => Math.max(most, box[3]), 0) + 1;
    this.drawing.setAttribute("viewBox", `0 0 ${flameWidth} ${depth * boxHeight}`);
    let found = 0;
    this.drawing.replaceChildren(...boxes.map(box => {
      const hit = this.search && this.tree.names[box[0]].toLowerCase().includes(this.search);
      if (hit) ++found;
      return this.#box(box, hit);
    }));
    this.detail.textContent = this.search ? `${found} boxes` : this.tell(this.root);
  }

  #box([node, x, size, depth], hit) {
    const group = shape("g", {
      tabindex: "0", role: "button", "aria-label": this.tell(node), "data-node": String(node),
    });
    if (hit) group.setAttribute("class", "match");
    const title = shape("title", {});
    title.textContent = this.tell(node);
    const name = this.tree.names[node];
    group.append(title, shape("rect", {
      x: x.toFixed(2), y: depth * boxHeight, width: Math.max(0.3, size).toFixed(2),
      height: boxHeight - 1, rx: 1.5, fill: node === 0 ? "#b9c2ca" : colourOf(name),
    }));
    const room = Math.floor((size - 6) / 6.2);
    if (room >= 3) {
      const text = shape("text", { x: (x + 3).toFixed(2), y: depth * boxHeight + 12.5 });
      text.textContent = fitted(name, room);
      group.append(text);
    }
    group.addEventListener("click", () => this.show(node));
    group.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.show(node);
    });
    return group;
  }
}

export function startFlames(reader, facts) {
  for (const { id, count, names } of facts.flames ?? []) {
    const parents = [...reader.column(count, Uint32Array)];
    const which = reader.column(count, Uint32Array);
    const totals = reader.column(count, Float64Array);
    const home = document.getElementById(id);
    if (home) new FlameView(home, new CallTree(parents, [...which].map(i => names[i]), totals));
  }
}
