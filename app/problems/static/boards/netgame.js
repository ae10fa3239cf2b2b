// The board of the net game: ropes with their numbers, whole cells tinted, the answer's cut and the cells that it takes. As a
// game, one frame a cut. Everybody may read this file during a contest: it knows which cuts are allowed, and not who wins.
import { place, readIntegers, rejection } from "../board/numbers.js";
import { cross, drawing, label, svg } from "../board/shapes.js";

const CELL = 34;
const EDGE = 14;

export const EXAMPLE = {
  input: "7\n0 0 1 0\n1 0 2 0\n0 1 1 1\n1 1 2 1\n0 0 0 1\n1 0 1 1\n2 0 2 1\n",
  answer: "1\n6\n",
};

/** The net, the answer's cut, and what the server says of a file that is no answer. */
export function parse(input, answer) {
  const start = readNet(input);
  const { words, offsets, fault } = readIntegers(answer, { most: 2 });
  const stop = fault ?? formFault(start, answer, words, offsets);
  const [winner, rope] = words.map(Number);
  if (stop) return { start, winner, steps: [], raw: null, stop: { text: stop } };
  return { start, winner, steps: winner === 1 ? [rope] : [], raw: null };
}

/** What is wrong with an answer that can be read, from where the server says it is: at its cut, or at its claim. */
export function judged({ steps }, where) {
  return where === "answer" ? { at: steps.length, judged: true } : undefined;
}

function readNet(input) {
  const lines = input.trimEnd().split("\n");
  const count = Number(lines[0]);
  const ropes = lines.slice(1, count + 1).map((line) => {
    const [x1, y1, x2, y2] = line.split(" ").map(Number);
    return x1 < x2 || y1 < y2 ? [x1, y1, x2, y2] : [x2, y2, x1, y1];
  });
  const places = new Map(ropes.map((rope, at) => [rope.join(), at]));
  const corners = ropes.filter(([x, , x2]) => x2 === x + 1).map(([x, y]) => [x, y]);
  corners.sort(([x1, y1], [x2, y2]) => y1 - y2 || x1 - x2);
  const cells = [];
  const cellsOf = ropes.map(() => 0);
  for (const [x, y] of corners) {
    const around = [
      [x, y, x + 1, y],
      [x, y + 1, x + 1, y + 1],
      [x, y, x, y + 1],
      [x + 1, y, x + 1, y + 1],
    ].map((rope) => places.get(rope.join()));
    if (around.includes(undefined)) continue;
    for (const rope of around) cellsOf[rope] |= 1 << cells.length;
    cells.push([x, y]);
  }
  return { ropes, cells, cellsOf };
}

/** The cells that are whole after cuts, as bits. */
export function wholeOf({ cells, cellsOf }, cut) {
  return cut.reduce((whole, rope) => whole & ~cellsOf[rope - 1], 2 ** cells.length - 1);
}

function formFault({ ropes }, answer, words, offsets) {
  if (!words.length) return rejection("end of file", "the winner, 1 or 2", "an empty file");
  if (!["1", "2"].includes(words[0])) return rejection(place(answer, offsets[0]), "the winner, 1 or 2", words[0]);
  if (words[0] === "2")
    return words.length > 1 ? rejection(place(answer, offsets[1]), "nothing after 2", words[1]) : undefined;
  const rope = `the rope to cut, 1 to ${ropes.length}`;
  if (words.length === 1) return rejection("end of file", rope, "nothing after 1");
  const fits = Number(words[1]) >= 1 && Number(words[1]) <= ropes.length;
  return fits ? undefined : rejection(place(answer, offsets[1]), rope, words[1]);
}

/** The net before and after the answer's cut. */
export function frames({ start, winner, steps, stop }) {
  return {
    count: steps.length,
    seek: (step) => ({
      net: start,
      winner,
      step,
      cut: steps.slice(0, step),
      last: steps[step - 1],
      isWrong: step === stop?.at,
    }),
  };
}

/** The frame in words. */
export function say({ net, winner, cut, last, isWrong }) {
  const verdict = isWrong ? ` ${_("Wrong.")}` : "";
  if (last) {
    const whole = count(wholeOf(net, cut));
    return `${cutText(net, last)} ${ngettext("%(num)s cell is whole after it.", "%(num)s cells are whole after it.", whole)}${verdict}`;
  }
  const claim =
    winner === 1
      ? _("The answer says that the first player wins.")
      : winner === 2
        ? _("The answer says that the second player wins.")
        : "";
  const ropes = ngettext("%(num)s rope", "%(num)s ropes", net.ropes.length);
  return `${ropes}, ${ngettext("%(num)s whole cell.", "%(num)s whole cells.", net.cells.length)} ${claim}${verdict}`;
}

function cutText(net, rope) {
  const cells = count(net.cellsOf[rope - 1]);
  if (!cells) return _("Rope %(rope)s is a side of no whole cell: it may not be cut.", { rope });
  return cells === 1
    ? _("Cutting rope %(rope)s takes a cell.", { rope })
    : _("Cutting rope %(rope)s takes two cells.", { rope });
}

function count(bits) {
  let sum = 0;
  for (let rest = bits; rest; rest &= rest - 1) sum++;
  return sum;
}

/** The net of a frame: whole cells tinted, ropes that may be cut thick with their numbers, the last cut dashed. */
export function draw({ net, cut, last, isWrong }, drawn, _theme, choose) {
  const [left, right, low, high] = box(net.ropes);
  const [wide, tall] = [(right - left) * CELL + 2 * EDGE, (high - low) * CELL + 2 * EDGE];
  const board = drawn ?? drawing(wide, tall, _("the net"));
  const at = placer(net.ropes);
  const whole = wholeOf(net, cut);
  const before = wholeOf(net, cut.slice(0, -1));
  const shapes = net.cells.map(([x, y], cell) => {
    const [cx, cy] = at(x, y + 1);
    const kind = (whole >> cell) & 1 ? "whole" : (before >> cell) & 1 ? "taken" : "sq";
    return svg("rect", { class: kind, x: cx, y: cy, width: CELL, height: CELL });
  });
  for (const [index, rope] of net.ropes.entries())
    shapes.push(ropeShape(rope, index + 1, at, stateOf(net, index, whole, cut, last), choose));
  board.replaceChildren(...shapes);
  const wrong = last && (isWrong || !net.cellsOf[last - 1]) && middle(net.ropes[last - 1], at);
  if (wrong) board.append(cross(...wrong, 7));
  board.closeUp = isWrong ? around(wrong, wide, tall) : undefined;
  return board;
}

/** The part of the drawing that shows a wrong cut, [x, y, width, height]: the cells around it; all of it for a wrong claim. */
function around(place, wide, tall) {
  const side = Math.min(5 * CELL, wide, tall);
  const begin = (middle, most) => Math.max(0, Math.min(most - side, middle - side / 2));
  return place ? [begin(place[0], wide), begin(place[1], tall), side, side] : [0, 0, wide, tall];
}

function stateOf(net, index, whole, cut, last) {
  if (index + 1 === last) return "last";
  if (cut.includes(index + 1)) return "cut";
  return net.cellsOf[index] & whole ? "legal" : "rope";
}

/** Where the ropes of a net are drawn: [rope, x, y] of each one's middle, ropes from 1. */
export function spots({ ropes }) {
  const at = placer(ropes);
  return ropes.map((rope, index) => [index + 1, ...middle(rope, at)]);
}

/** Gives the place of a grid point in the drawing. */
function placer(ropes) {
  const [left, , , high] = box(ropes);
  return (x, y) => [EDGE + (x - left) * CELL, EDGE + (high - y) * CELL];
}

function box(ropes) {
  const xs = ropes.flatMap(([x1, , x2]) => [x1, x2]);
  const ys = ropes.flatMap(([, y1, , y2]) => [y1, y2]);
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
}

function middle([x1, y1, x2, y2], at) {
  return at((x1 + x2) / 2, (y1 + y2) / 2);
}

function ropeShape(rope, number, at, state, choose) {
  const [[x1, y1], [x2, y2]] = [at(rope[0], rope[1]), at(rope[2], rope[3])];
  const shape = svg("g", { class: state }, svg("line", { x1, y1, x2, y2 }));
  if (state === "legal" || state === "last") {
    const [x, y] = middle(rope, at);
    shape.append(
      svg("circle", { class: "plate", cx: x, cy: y, r: 7.5 }),
      label(number, { class: "no", x, y: y + 3.2 }),
    );
  }
  if (choose && state === "legal") {
    shape.classList.add("target");
    shape.append(svg("line", { class: "wide", x1, y1, x2, y2 }));
    shape.addEventListener("click", () => choose(String(number)));
  }
  return shape;
}

/** What would be refused by the first numbers of a file alone; an empty text where nothing would. */
export function peek(head, input) {
  const [winner, rope] = head.trim().split(/\s+/);
  if (winner !== "1" && winner !== "2") return "does not begin with 1 or 2";
  const ropes = Number(input.slice(0, input.indexOf("\n")));
  return winner === "1" && !(Number(rope) >= 1 && Number(rope) <= ropes) ? `names no rope from 1 to ${ropes}` : "";
}

/** The net game: {net, cut}. */
export const game = {
  start(text) {
    const [net, cut] = text.split("\ncut ");
    return { net: readNet(net), cut: cut ? cut.trim().split(" ").map(Number) : [] };
  },
  turn: ({ cut }) => cut.length % 2,
  apply(position, move) {
    if (!game.moves(position).includes(move)) throw new Error(`rope ${move} may not be cut`);
    return { net: position.net, cut: [...position.cut, Number(move)] };
  },
  over: (position) => wholeOf(position.net, position.cut) === 0,
  moves({ net, cut }) {
    const whole = wholeOf(net, cut);
    return net.ropes.map((_, index) => String(index + 1)).filter((number) => net.cellsOf[number - 1] & whole);
  },
  describe: (move) => _("cut rope %(rope)s", { rope: move }),
  say: (position) => {
    if (game.over(position)) return _("No cell is whole.");
    const cells = ngettext(
      "%(num)s cell is whole,",
      "%(num)s cells are whole,",
      count(wholeOf(position.net, position.cut)),
    );
    return `${cells} ${ngettext("%(num)s rope may be cut.", "%(num)s ropes may be cut.", game.moves(position).length)}`;
  },
  draw: ({ net, cut }, drawn, theme, last, choose) =>
    draw({ net, cut, last: Number(last) || undefined }, drawn, theme, choose),
};
