// Two people at one board of the playground: both sides are played by clicks, and a link holds the whole game. Nothing is sent.
import * as module from "../boards/game.js";
import { ModuleView } from "./views.js";

const ADDRESS = /^#play\/([^/]*)\/([^/]*)$/;
const place = document.getElementById("both");
const [board, state, turns] = [
  document.querySelector("jurado-board"),
  document.getElementById("turn"),
  document.getElementById("turns"),
];
const [position, link, move] = ["position", "link", "move"].map((name) => place.querySelector(`[name=${name}]`));
const { game: name, title } = place.dataset;
let game; // {instance, moves}

/** The link of a game: its position at the start, and its moves. */
function address() {
  const moves = game.moves.map(encodeURIComponent).join(",");
  return `#play/${encodeURIComponent(game.instance)}/${moves}`;
}

/** Show the game after its last move, with whose turn it is; an illegal move is said and forgotten. */
function show() {
  const parsed = module.played(
    name,
    game.instance,
    game.moves.map((text) => ({ move: text })),
  );
  game.moves.length = parsed.steps.length;
  const seen = module.standing(name, game.instance, game.moves);
  const steps = game.moves.map((text, at) => ({ by: seen.players[at], move: text }));
  const view = new ModuleView(module, { ...parsed, steps, stop: undefined });
  if (!seen.isOver) view.choose = make;
  board.hidden = false;
  board.load([view], { name: title, step: view.count });
  turns.hidden = seen.isOver;
  history.replaceState(null, "", address());
  link.value = location.href;
  document.getElementById("going").hidden = false;
  const next = seen.isOver
    ? _("%(side)s has won: the last move was theirs.", { side: seen.last })
    : _("%(side)s is to move.", { side: seen.turn });
  state.textContent = parsed.stop ? `${parsed.stop.text}. ${next}` : next;
}

function make(text) {
  game.moves.push(text);
  show();
}

/** Begin at a position, perhaps with moves that were made already; a position that cannot be read is said. */
function begin(instance, moves) {
  const before = game;
  try {
    game = { instance: instance.endsWith("\n") ? instance : `${instance}\n`, moves };
    if (module.standing(name, game.instance, []).isOver) throw new Error("no move is left");
    show();
  } catch {
    game = before;
    state.textContent = _("This position cannot be played: it is written as in the example, and has a move.");
  }
}

/** Go on with the game of the address, as a friend's link has it. */
function follow() {
  const parts = ADDRESS.exec(location.hash);
  if (!parts) return;
  const moves = parts[2] ? parts[2].split(",").map(decodeURIComponent) : [];
  position.value = decodeURIComponent(parts[1]);
  begin(decodeURIComponent(parts[1]), moves);
}

function say() {
  if (!move.value.trim()) return move.focus();
  make(move.value.trim());
  move.value = "";
}

document.getElementById("begin").addEventListener("click", () => begin(position.value, []));
document.getElementById("made").addEventListener("click", say);
move.addEventListener("keydown", ({ key }) => key === "Enter" && say());
document.getElementById("undo").addEventListener("click", () => {
  game.moves.pop();
  show();
});
link.addEventListener("focus", () => link.select());
addEventListener("hashchange", follow);
follow();
