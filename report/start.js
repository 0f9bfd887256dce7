import { unpack } from "./data.js";
import { startFlames } from "./flame.js";
import { startIdle } from "./idle.js";
import { startNames } from "./names.js";
import { improveTables } from "./tables.js";
import { startTreemaps } from "./treemap.js";
import { startTimeline } from "./timeline.js";

/** Each part of the page has data of its own. */
async function startDrawings() {
  for (const block of document.querySelectorAll('script[type="application/octet-stream"]')) {
    const reader = await unpack(block.textContent);
    const facts = reader.json();
    if (facts.lanes) startTimeline(reader, facts);
    startFlames(reader, facts);
    startTreemaps(reader, facts);
    startNames(reader, facts);
    startIdle(facts);
  }
}

export async function start() {
  improveTables();
  await startDrawings();
  document.body.dataset.ready = "1";
}
