import { element, fitted, shortBytes } from "./figures.js";

const mapWidth = 1000;
const mapHeight = 460;
const headHeight = 16;
const mapSpace = "http://www.w3.org/2000/svg";

/** Where boxes of these sizes, the largest first, fill a rectangle without being thin: rows, squarified. */
export function squarify(sizes, x, y, width, height) {
  const boxes = [];
  let total = sizes.reduce((sum, size) => sum + size, 0);
  let at = 0;
  const worst = (row, sum, side, scale) => {
    const length = (sum * scale) / side;
    return Math.max(...row.map(size => {
      const other = (size * scale) / length;
      return Math.max(length / other, other / length);
    }));
  };
  while (at < sizes.length && total > 0 && width > 0 && height > 0) {
    const side = Math.min(width, height);
    const scale = (width * height) / total;
    const row = [sizes[at]];
    let sum = sizes[at];
    while (at + row.length < sizes.length && sizes[at + row.length] > 0) {
      const next = sizes[at + row.length];
      if (worst([...row, next], sum + next, side, scale) > worst(row, sum, side, scale)) break;
      row.push(next);
      sum += next;
    }
    const length = Math.min((sum * scale) / side, Math.max(width, height));
    let along = 0;
    for (const size of row) {
      const part = sum > 0 ? (side * size) / sum : 0;
      boxes.push(width >= height ? [x, y + along, length, part] : [x + along, y, part, length]);
      along += part;
    }
    if (width >= height) { x += length; width -= length; } else { y += length; height -= length; }
    total -= sum;
    at += row.length;
  }
  return boxes;
}

class TreemapView {
  constructor(home, parents, names, bytes) {
    Object.assign(this, { parents, names, bytes, root: 0 });
    this.children = parents.map(() => []);
    for (let i = 1; i < parents.length; ++i) this.children[parents[i]].push(i);
    for (const list of this.children) list.sort((a, b) => bytes[b] - bytes[a] || a - b);
    this.drawing = document.createElementNS(mapSpace, "svg");
    this.set(this.drawing, {
      class: "map", viewBox: `0 0 ${mapWidth} ${mapHeight}`, role: "group", "aria-label": home.dataset.label,
    });
    const up = element("button", "Up", { type: "button", "aria-label": "The directory above" });
    up.addEventListener("click", () => this.show(this.parents[this.root]));
    this.detail = element("output", "");
    const tools = element("div", undefined, { class: "tools" });
    tools.append(up, this.detail);
    home.append(tools, this.drawing);
    this.show(0);
  }

  set(shape, attributes) {
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    return shape;
  }

  make(tag, attributes) {
    return this.set(document.createElementNS(mapSpace, tag), attributes);
  }

  path(node) {
    const names = [];
    for (let at = node; at !== 0; at = this.parents[at]) names.unshift(this.names[at]);
    return `/${names.join("/")}`;
  }

  tell(node) {
    const share = this.bytes[0] > 0 ? ((100 * this.bytes[node]) / this.bytes[0]).toFixed(1) : "0";
    return `${this.path(node)}: ${shortBytes(this.bytes[node])}, ${share} %`;
  }

  show(node) {
    this.root = node;
    this.detail.textContent = this.tell(node);
    this.drawing.replaceChildren();
    this.draw(node, 0, 0, mapWidth, mapHeight, 0);
  }

  draw(node, x, y, width, height, depth) {
    this.drawing.append(this.box(node, x, y, width, height, depth));
    if (width < 24 || height < 30 || depth > 5) return;
    const children = this.children[node].filter(child => this.bytes[child] > 0);
    const inside = [x + 2, y + headHeight, width - 4, height - headHeight - 2];
    const sum = children.reduce((all, child) => all + this.bytes[child], 0);
    // What lies in the directory itself stays empty, at the end.
    const boxes = squarify([...children.map(child => this.bytes[child]), Math.max(0, this.bytes[node] - sum)], ...inside);
    children.forEach((child, i) => {
      if (boxes[i] && boxes[i][2] > 2 && boxes[i][3] > 2) this.draw(child, ...boxes[i], depth + 1);
    });
  }

  box(node, x, y, width, height, depth) {
    const group = this.make("g", { tabindex: "0", role: "button", "aria-label": this.tell(node) });
    const title = this.make("title", {});
    title.textContent = this.tell(node);
    group.append(title, this.make("rect", {
      x: x.toFixed(1), y: y.toFixed(1), width: width.toFixed(1), height: height.toFixed(1), rx: 2,
      fill: `hsl(${(205 + depth * 22) % 360} 42% ${84 - depth * 5}%)`,
    }));
    const room = Math.floor((width - 8) / 6.4);
    if (room >= 4 && height >= 14) {
      const name = this.names[node];
      const text = this.make("text", { x: (x + 4).toFixed(1), y: (y + 12).toFixed(1) });
      text.textContent = fitted(name, room);
      group.append(text);
    }
    group.addEventListener("click", () => this.show(node));
    group.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.show(node); }
    });
    return group;
  }
}

export function startTreemaps(reader, facts) {
  for (const { id, count, names } of facts.treemaps ?? []) {
    const parents = [...reader.column(count, Uint32Array)];
    const bytes = [...reader.column(count, Float64Array)];
    const home = document.getElementById(id);
    if (home) new TreemapView(home, parents, names, bytes);
  }
}
