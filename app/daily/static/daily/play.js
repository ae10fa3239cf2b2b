// A puzzle of the day on its board: taps, clicks and keys make steps, and the best is kept in this browser.
import "../board/element.js";
import { svg } from "../board/shapes.js";
import { ModuleView } from "../board/views.js";
import { best, keep } from "./best.js";
import { KINDS } from "./solo.js";

const WAYS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const byId = (id) => document.getElementById(id);
const place = byId("daily");
const { kind, name, instance, replies } = place.dataset;
const rules = KINDS[kind];
const board = place.querySelector("jurado-board");
const start = rules.module.parse(instance, "").start;
const spots = rules.module.spots(start); // [spot, x, y] each
const game = { start };

/** The board of a play that grows. The last step takes moves, those before it show what has been. */
class SoloView extends ModuleView {
  constructor() {
    super(rules.module, { start, winner: 1, steps: [], raw: 0 });
    this.marks = svg("g");
    this.cursor = 0;
    this.moves = [];
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "application");
    this.element.setAttribute("aria-label", _("The board: arrow keys move the mark, Enter selects, Backspace undoes"));
    this.element.addEventListener("click", (event) => this.#clicked(event));
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Go on with other steps. */
  take(moves) {
    this.moves = moves;
    this.held = undefined;
    this.frames = rules.module.frames({ start, winner: 1, steps: moves, raw: 0 });
    this.count = this.frames.count;
    this.curve = undefined;
    this.steps = moves.length;
    board.renew(this.count);
    show();
  }

  seek(step) {
    const sentence = super.seek(step);
    this.drawing.append(this.marks);
    this.shown = Math.min(step, this.count);
    this.#mark();
    return this.shown === this.count ? rules.say(game, this.moves) : sentence;
  }

  /** The steps up to the one that is shown: a move goes on from there. */
  get made() {
    return this.moves.slice(0, this.shown);
  }

  pick(spot) {
    const { steps, held } = rules.pick(game, this.made, spot, this.held);
    if (steps) {
      this.take(steps);
      return rules.awaits?.(game, steps) ? this.#answer(steps) : undefined;
    }
    this.held = held;
    this.#mark();
    if (held !== undefined) tell(_("%(piece)s is to jump.", { piece: rules.spot(game, held, this.made) }));
  }

  /** Let the other player answer: the server does, since who wins is not known here. */
  async #answer(steps) {
    let cut;
    try {
      const reply = await fetch(`${replies}?cuts=${steps.join()}`);
      if (!reply.ok) throw new Error(reply.status);
      cut = (await reply.json()).cut;
    } catch {
      if (this.moves !== steps) return;
      this.take(steps.slice(0, -1));
      byId("now").textContent = _("The other player does not respond. Try again in a moment.");
      return;
    }
    if (this.moves === steps && cut !== null) this.take([...steps, cut]); // else the player has taken back meanwhile
  }

  back() {
    // The other player's answer goes with the cut that it answered.
    const last = kind === "netgame" && this.made.length % 2 === 0 ? 2 : 1;
    if (this.made.length) this.take(this.made.slice(0, -last));
  }

  #mark() {
    const at = (spot) => spots.find(([each]) => each === spot).slice(1);
    const [, x, y] = spots[this.cursor];
    const shapes = [svg("circle", { class: "cursor", cx: x, cy: y, r: 10.5 })];
    if (this.held !== undefined) {
      const [cx, cy] = at(this.held);
      shapes.push(svg("circle", { class: "held", cx, cy, r: 8.5 }));
      for (const [gx, gy] of rules.goals(game, this.made, this.held).map(at))
        shapes.push(svg("circle", { class: "goal", cx: gx, cy: gy, r: 6 }));
    }
    this.marks.replaceChildren(...shapes);
  }

  #clicked(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.drawing.getScreenCTM().inverse());
    const far = ([, x, y]) => Math.hypot(x - point.x, y - point.y);
    const nearest = spots.reduce((one, two) => (far(two) < far(one) ? two : one));
    if (far(nearest) > 17) return;
    this.cursor = spots.indexOf(nearest);
    this.pick(nearest[0]);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const acts = {
      Enter: () => this.pick(spots[this.cursor][0]),
      " ": () => this.pick(spots[this.cursor][0]),
      Backspace: () => this.back(),
      u: () => this.back(),
    };
    const act = WAYS[event.key] ? () => this.#move(WAYS[event.key]) : acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation(); // the board's own keys go through the steps
    act();
  }

  /** Move the mark to the nearest spot in a direction: what lies aside counts twice. */
  #move([right, down]) {
    const [, x, y] = spots[this.cursor];
    const cost = ([, x2, y2]) => {
      const [along, aside] = right ? [(x2 - x) * right, Math.abs(y2 - y)] : [(y2 - y) * down, Math.abs(x2 - x)];
      return along > 1 && aside <= along + 1 ? along + 2 * aside : Infinity;
    };
    const nearest = spots.reduce((one, two) => (cost(two) < cost(one) ? two : one));
    if (cost(nearest) === Infinity) return;
    this.cursor = spots.indexOf(nearest);
    this.#mark();
    tell(rules.spot(game, nearest[0], this.made));
  }
}

function tell(text) {
  board.said[0].textContent = text;
}

/** Say how the play stands, and keep it where it is the best. */
function show() {
  const { moves } = view;
  const score = rules.score(game, moves);
  if (kind === "netgame") countTries(moves);
  if (score > (best(name)?.score ?? 0)) isKept = keep(name, { score, steps: moves, tries });
  byId("now").textContent = standing(score, moves);
  for (const rung of place.querySelectorAll("[data-level]"))
    rung.classList.toggle("reached", score >= Number(place.dataset[rung.dataset.level]));
  byId("undo").disabled = byId("again").disabled = !moves.length;
  const kept = best(name);
  byId("mine").hidden = !kept;
  byId("best").textContent =
    `${kept ? reached(kept) : ""} ${isKept ? _("Your best result is stored only in this browser.") : _("This browser stores nothing: your best result is lost when you leave the page.")}`;
}

function standing(score, moves) {
  if (kind === "netgame") return rules.say(game, moves);
  const most = Number(place.dataset.z);
  return score >= most ? _("%(score)s: the best possible", { score }) : _("%(score)s of %(most)s", { score, most });
}

function reached({ score, tries: needed }) {
  return kind === "netgame" ? _("Won at try %(number)s.", { number: needed }) : _("Your best: %(score)s.", { score });
}

let isKept = true;
let tries = 0;

/** A try begins with each first cut. */
function countTries(moves) {
  if (moves.length && moves.length <= 2 && moves[0] !== countTries.last) tries++;
  countTries.last = moves[0];
}

const view = new SoloView();
byId("given").hidden = true;
byId("panel").hidden = byId("keys").hidden = board.hidden = false;
board.load([view], { name: document.querySelector("h1").textContent });
byId("undo").addEventListener("click", () => view.back());
byId("again").addEventListener("click", () => view.take([]));
byId("mine").addEventListener("click", () => view.take(best(name).steps));
show();
