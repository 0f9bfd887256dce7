import { element, shortTime } from "./figures.js";

/** What a timeout would have saved: the slider goes through those that were reckoned. */
export function startIdle(facts) {
  for (const { id, timeouts, off, spinUps, waiting } of facts.idle ?? []) {
    const home = document.getElementById(id);
    if (!home) continue;
    const tools = element("div", undefined, { class: "tools" });
    const label = element("label", "Off after ");
    const slider = element("input", undefined, {
      type: "range", min: "0", max: String(timeouts.length - 1), value: String(timeouts.length >> 1),
      "aria-label": home.dataset.label,
    });
    const answer = element("output", "");
    const tell = () => {
      const i = Number(slider.value);
      slider.setAttribute("aria-valuetext", shortTime(timeouts[i]));
      answer.textContent = `${shortTime(timeouts[i])}: ${shortTime(off[i])} off, ${spinUps[i]} `
        + `${spinUps[i] === 1 ? "start" : "starts"}, ${shortTime(waiting[i])} of waiting for them`;
    };
    slider.addEventListener("input", tell);
    tell();
    tools.append(label, slider, answer);
    home.append(tools);
  }
}
