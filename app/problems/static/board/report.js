// The report on a submission: links of cases put their board beside the table, and rejections are drawn where they happened.
import "./element.js";
import { make } from "./element.js";
import { fetchText, openView } from "./views.js";

const links = () => [...document.querySelectorAll("a[data-board]")];

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-board]");
  const board = document.querySelector("jurado-board");
  if (!link || !board || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link, board);
  board.focus({ preventScroll: innerWidth > 1104 });
});

function open(link, board, step) {
  for (const row of document.querySelectorAll("tr.sel")) row.classList.remove("sel");
  link.closest("tr")?.classList.add("sel");
  board.hidden = false;
  board.show({ ...link.dataset, step });
}

/** Keep the case and the step in the address, so that a reader may send it to somebody; not at each picture of a play. */
document.addEventListener(
  "seek",
  ({ target, detail }) => {
    if (target.timer || !target.name || !target.matches(":focus-within")) return;
    history.replaceState(null, "", `#case/${encodeURIComponent(target.name)}/${detail}`);
  },
  true,
);

/** Show the case and the step that the address names, or else the first case where there is room beside the table. */
function follow() {
  const asked = location.hash.match(/^#case\/([^/]+)(?:\/(\d+))?$/);
  const board = document.querySelector("jurado-board");
  if (!board) return;
  const link = asked && links().find((each) => each.dataset.name === decodeURIComponent(asked[1]));
  if (link) {
    open(link, board, asked[2]);
    board.focus({ preventScroll: innerWidth > 1104 });
    return;
  }
  // A board that a package brings runs when the reader asks for it.
  const first = links().find((each) => !each.dataset.frame);
  if (board.hidden && first && !document.querySelector("#report[data-wait]")) open(first, board);
}

/** Draw the step that breaks the rules beside the reason: the part of the board around it. */
async function drawRejection(place) {
  const link = links().find((each) => each.dataset.name === place.dataset.rejected);
  if (!link || link.dataset.frame) return;
  try {
    const [input, answer] = await Promise.all([fetchText(link.dataset.input), fetchText(link.dataset.answer)]);
    const view = await openView({ board: link.dataset.board, input, answer, where: link.dataset.where });
    if (!view.isStopped) return;
    place.append(view.element);
    view.seek(view.first);
    closeUp(view);
    const see = make("button", "link", _("See it on the board"));
    see.type = "button";
    see.addEventListener("click", () => link.click());
    place.parentElement.querySelector("p").after(make("p", "", see));
  } catch {
    place.remove(); // the reason stands beside it in words
  }
}

function closeUp({ drawing, element }) {
  if (!drawing.closeUp) return element.remove();
  const [x, y, width, height] = drawing.closeUp;
  drawing.setAttribute("aria-hidden", "true");
  if (!(drawing instanceof HTMLCanvasElement)) return drawing.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  const cut = document.createElement("canvas");
  Object.assign(cut, { width, height });
  cut.getContext("2d").drawImage(drawing, x, y, width, height, 0, 0, width, height);
  element.replaceChildren(cut);
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    drawRejection(target);
  }
});
const watch = () => {
  follow();
  for (const place of document.querySelectorAll("[data-rejected]")) seen.observe(place);
};
// A report that waits for its judgement is put in anew by the page.
new MutationObserver(watch).observe(document.querySelector("main"), { childList: true });
watch();
addEventListener("hashchange", follow);
