// The page of a game: the board follows the moves, a click on it is a move, and the forms of the page are sent without loading it anew.
import "./element.js";
import { ModuleView } from "./views.js";
import * as module from "../boards/game.js";

const LATER = 5000; // ms until a game that somebody else plays is looked at again
let following;

const place = () => document.getElementById("game");

/** Show the game as the page has it; `focus` is the selector of what had the focus before. */
function show(focus) {
  const game = place();
  const board = game.querySelector("jurado-board");
  const players = JSON.parse(game.dataset.players);
  const parsed = module.played(game.dataset.game, game.dataset.instance, []);
  const view = new ModuleView(module, { ...parsed, steps: movesOf(game, players) });
  if ("turn" in game.dataset) view.choose = choose;
  board.hidden = false;
  document.getElementById("picture").hidden = true;
  board.load([view], { name: document.querySelector("h1").textContent, step: view.count });
  document.querySelectorAll("#moves li").forEach((item, at) => {
    item.addEventListener("click", () => board.seek(at + 1));
  });
  if (focus) (document.querySelector(focus) ?? board).focus();
  follow();
}

/** The moves with who made them, as the rules tell whose turn it was. */
function movesOf(game, players) {
  const moves = JSON.parse(game.dataset.moves);
  return module
    .turns(game.dataset.game, game.dataset.instance, moves)
    .map((side, at) => ({ by: players[side], move: moves[at] }));
}

function choose(move) {
  const form = document.getElementById("move");
  const field = form.elements.move;
  field.value = move;
  if (field.value === move) form.requestSubmit();
}

/** Fetch the page of the game, or send a form to it, and put the new game in the place of the old. */
async function renew(address, init, focus) {
  const reply = await fetch(address, { ...init, headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  const fresh = page.getElementById("game");
  if (!fresh)
    return tell(page.querySelector(".note")?.textContent ?? _("the server says %(status)s", { status: reply.status }));
  place().replaceWith(fresh);
  history.replaceState(null, "", new URL(reply.url).pathname);
  show(focus);
}

function tell(text) {
  let note = document.getElementById("refused");
  if (!note) {
    note = document.createElement("div");
    Object.assign(note, { id: "refused", className: "note bad over" });
    note.setAttribute("role", "alert");
    place().querySelector(".head").after(note);
  }
  note.textContent = text;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!place().contains(form)) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form));
  const focus = form.id === "move" ? "#move [name=move]" : ".acts button";
  const buttons = place().querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  try {
    await renew(form.getAttribute("action"), { method: "POST", body: fields }, focus);
  } catch {
    tell(_("The server cannot be reached. Your move is safe to repeat."));
  }
  for (const button of buttons) button.disabled = false;
});

/** Follow the moves of a game that another viewer or page plays. */
function follow() {
  clearTimeout(following);
  const game = place();
  if ("over" in game.dataset || "turn" in game.dataset) return;
  following = setTimeout(() => renew(location.href, {}).catch(follow), LATER);
}

show();
