import { element, grouped } from "./figures.js";

/** What a cell is sorted by: its exact figure, or its text. */
export function keyOf(cell) {
  const exact = cell.dataset.v ?? (cell.classList.contains("n") ? cell.textContent : undefined);
  if (exact === undefined) return cell.textContent.toLowerCase();
  return Number(String(exact).replaceAll(",", ""));
}

/** The order of keys: numbers by size, texts as a dictionary has them, equal ones as they were. */
export function orderOf(keys, descending) {
  const order = keys.map((_, index) => index);
  const compare = (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0);
  return order.sort((a, b) => (descending ? compare(b, a) : compare(a, b)) || a - b);
}

function sortBy(table, column, heading) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const keys = rows.map(row => keyOf(row.cells[column]));
  const was = heading.getAttribute("aria-sort");
  const figures = typeof keys[0] === "number";
  const descending = was ? was === "ascending" : figures;
  for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  body.append(...orderOf(keys, descending).map(index => rows[index]));
}

function addSorting(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = element("button", heading.textContent, { type: "button" });
    button.addEventListener("click", () => sortBy(table, column, heading));
    heading.replaceChildren(button);
  });
}

function addFilter(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 8) return;
  const texts = rows.map(row => row.textContent.toLowerCase());
  const title = table.caption.textContent;
  const input = element("input", undefined, {
    type: "search", placeholder: "Filter rows", "aria-label": `Filter: ${title}`,
  });
  const count = element("output", `${grouped(rows.length)} rows`);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !texts[index].includes(wanted);
      if (!row.hidden) ++shown;
    });
    count.textContent = wanted
      ? `${grouped(shown)} of ${grouped(rows.length)} rows` : `${grouped(rows.length)} rows`;
  });
  const tools = element("div", undefined, { class: "tools" });
  tools.append(input, count);
  table.parentElement.before(tools);
}

export function improveTables() {
  for (const table of document.querySelectorAll("table.data")) {
    addSorting(table);
    addFilter(table);
    table.parentElement.tabIndex = 0;
    table.parentElement.setAttribute("role", "region");
    table.parentElement.setAttribute("aria-label", table.caption.textContent);
  }
}
