// The puzzles of a day: what the reader has reached in this browser stands below each.
import { best } from "./best.js";

for (const place of document.querySelectorAll("[data-best]")) {
  const kept = best(place.dataset.best);
  if (!kept) continue;
  place.textContent = place.dataset.best.includes("/netgame/")
    ? _("won")
    : _("your best: %(score)s", { score: kept.score });
  place.hidden = false;
}
