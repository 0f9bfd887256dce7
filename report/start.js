import { unpack } from "./data.js";
import { startFlames } from "./flame.js";
import { startIdle } from "./idle.js";
import { improveTables } from "./tables.js";
import { startTimeline } from "./timeline.js";

/** A page without data has its tables alone. */
async function startDrawings() {
  const text = document.getElementById("data").textContent;
  if (!text) return;
  const reader = await unpack(text);
  const facts = reader.json();
  startTimeline(reader, facts);
  startFlames(reader, facts);
  startIdle(facts);
}

export async function start() {
  improveTables();
  await startDrawings();
  document.body.dataset.ready = "1";
}
