// The board of Optimiza: a walk over numbers, each saying how far the next move goes. One frame a cell; as a game, the duel.
import { pair, place, readIntegers, rejection } from "../board/numbers.js";
import { arrow, axes, cross, drawing, label, svg } from "../board/shapes.js";

const CELL = 24;
const EDGE = 18;
const LEGS_DRAWN = 12;
const LARGEST_WITH_NUMBERS = 24;
const EIGHT = [
  [-1, -1],
  [-1, 0],
  [-1, 1],
  [0, -1],
  [0, 1],
  [1, -1],
  [1, 0],
  [1, 1],
];
const SIX = [
  [-1, -1],
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, 0],
  [1, 1],
];
const FOUR = [
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, 0],
];
const VARIANTS = {
  torus8: { ways: EIGHT, wraps: true },
  torus4: { ways: FOUR, wraps: true },
  edge8: { ways: EIGHT, wraps: true, bySteps: true },
  klein8: { ways: EIGHT, wraps: true, mirrors: true },
  hex: { ways: SIX, triangle: true },
};

export const EXAMPLE = { input: "4\n1 1 2 3\n2 4 1 3\n3 2 1 2\n1 3 3 2\n", answer: "7 4\n1 1\n1 2\n2 3\n2 2\n" };

/** The board, the walk up to the first cell that breaks the rules, and what the server says of it. */
export function parse(input, answer) {
  const start = readBoard(input);
  const { size, values, bySteps, ends } = start;
  const most = bySteps ? ends.flat().filter((end) => end >= 0).length + 1 : values.filter(Boolean).length;
  const { words, offsets, fault } = readIntegers(answer, { most: 2 + 2 * most });
  const wrong = fault ?? countFault(answer, words, offsets, most);
  const steps = [];
  const seen = new Map();
  const stopped = (text, attempt) => ({ start, steps, raw: null, stop: { text, attempt } });
  for (let number = 1; 2 * number + 1 < words.length; number++) {
    const [row, column] = words.slice(2 * number, 2 * number + 2);
    const cell = cellOf(start, Number(row), Number(column));
    const last = steps.at(-1);
    const key = bySteps && last !== undefined ? last * size * size + cell : bySteps ? -1 - cell : cell;
    const illegal = illegality(start, last, cell, pair(row, column)) ?? repeated(start, seen, key, cell);
    if (illegal) {
      const where = `cell ${number} (${place(answer, offsets[2 * number])})`;
      return stopped(wrong ?? rejection(where, ...illegal), { cell, text: pair(row, column) });
    }
    seen.set(key, number);
    steps.push(cell);
  }
  if (wrong) return stopped(wrong);
  const total = steps.reduce((sum, cell) => sum + values[cell], 0);
  if (words[0] === String(total)) return { start, steps, raw: total };
  return stopped(rejection(place(answer, offsets[0]), `${total}, the sum of the ${steps.length} cells`, words[0]));
}

function readBoard(input) {
  const [head, ...rows] = input.split("\n");
  const [first, variant = "torus8"] = head.split(" ");
  const size = Number(first);
  const values = new Array(size * size).fill(0);
  for (const [r, row] of rows.slice(0, size).entries()) {
    for (const [c, value] of row.split(" ").entries()) values[r * size + c] = Number(value);
  }
  const rules = VARIANTS[variant];
  const { ends, turns } = destinations(size, values, rules);
  return { size, variant, values, bySteps: Boolean(rules.bySteps), ends, turns, ways: rules.ways };
}

/** Where each cell's move leads, by direction (-1: nowhere), and whether it passes a border. */
function destinations(size, values, rules) {
  const ends = [];
  const turns = [];
  const inner = (at) => ((at % size) + size) % size;
  values.forEach((value, here) => {
    const [row, column] = [Math.floor(here / size), here % size];
    const found = [];
    const passes = [];
    for (const [down, right] of rules.ways) {
      let [r, c] = [row + down * value, column + right * value];
      const outside = r < 0 || r >= size || c < 0 || c >= size;
      if (rules.mirrors && (r < 0 || r >= size)) c = size - 1 - c;
      if (rules.wraps) [r, c] = [inner(r), inner(c)];
      const inside = value > 0 && r >= 0 && r < size && c >= 0 && c < size && (!rules.triangle || c <= r);
      const cell = inside ? r * size + c : -1;
      found.push(cell === here || found.includes(cell) ? -1 : cell);
      passes.push(outside);
    }
    ends.push(found);
    turns.push(passes);
  });
  return { ends, turns };
}

function cellOf({ size, values }, row, column) {
  const cell = (row - 1) * size + column - 1;
  return row >= 1 && row <= size && column >= 1 && column <= size && values[cell] ? cell : undefined;
}

function nameOf({ size }, cell) {
  return pair(Math.floor(cell / size) + 1, (cell % size) + 1);
}

function countFault(answer, words, offsets, most) {
  if (words.length < 2) return rejection("end of file", words.length ? "the number of cells" : "the sum", "nothing");
  const [count, given] = [Number(words[1]), words.length - 2];
  if (count < 1 || count > most) return rejection(place(answer, offsets[1]), `1 to ${most} cells`, words[1]);
  if (given < 2 * count) return rejection("end of file", `${2 * count} numbers for ${count} cells`, given);
  if (given === 2 * count) return undefined;
  return rejection(
    place(answer, offsets[2 + 2 * count]),
    `nothing after ${count} cells`,
    `${given - 2 * count} more numbers`,
  );
}

/** Why a cell cannot be the next one, as [expected, found]. */
function illegality(board, last, cell, text) {
  if (cell === undefined) return ["a cell of the board", text];
  if (last === undefined) return undefined;
  const { values, ends } = board;
  if (!ends[last].includes(cell))
    return [`a cell ${values[last]} away from ${nameOf(board, last)} in a straight line`, nameOf(board, cell)];
  return values[cell] < values[last]
    ? [`a value of at least ${values[last]}`, `${values[cell]} at ${nameOf(board, cell)}`]
    : undefined;
}

function repeated(board, seen, key, cell) {
  if (!seen.has(key)) return undefined;
  return [
    board.bySteps ? "a step not made before" : "a cell not visited before",
    `that of cell ${seen.get(key)}, ${nameOf(board, cell)}`,
  ];
}

/** The walk after each number of cells. */
export function frames({ start, steps, stop }) {
  const curve = [0];
  for (const cell of steps) curve.push(curve.at(-1) + start.values[cell]);
  return {
    count: steps.length + (stop?.attempt ? 1 : 0),
    curve,
    notable: (step) => step > 1 && start.values[steps[step - 1]] > start.values[steps[step - 2]],
    seek(step) {
      const made = Math.min(step, steps.length);
      const attempt = step > made ? stop.attempt : undefined;
      return { board: start, walk: steps.slice(0, made), attempt, step, count: steps.length, sum: curve[made] };
    },
  };
}

/** The cells that a walk may go on to. */
export function ahead({ ends, values, bySteps }, walk) {
  const last = walk.at(-1);
  if (last === undefined) return [];
  const made = (end) => (bySteps ? walk.some((cell, at) => cell === last && walk[at + 1] === end) : walk.includes(end));
  return ends[last].filter((end) => end >= 0 && values[end] >= values[last] && !made(end));
}

/** The frame in words. */
export function say({ board, walk, attempt, step, count, sum }) {
  if (attempt)
    return _("Cell %(step)s, %(cell)s, is not possible. %(sum)s collected.", { step, cell: attempt.text, sum });
  if (!walk.length) return ngettext("The start, %(num)s cell to come.", "The start, %(num)s cells to come.", count);
  const last = walk.at(-1);
  const on = ahead(board, walk).length;
  const values = { step, count, cell: nameOf(board, last), value: board.values[last], sum };
  if (!on)
    return _("Cell %(step)s of %(count)s: %(cell)s with %(value)s, %(sum)s collected; no reachable cells.", values);
  return ngettext(
    "Cell %(step)s of %(count)s: %(cell)s with %(value)s, %(sum)s collected; %(num)s reachable cell.",
    "Cell %(step)s of %(count)s: %(cell)s with %(value)s, %(sum)s collected; %(num)s reachable cells.",
    on,
    values,
  );
}

/** The board of a frame: cells tinted by value, those of the walk framed, its last legs as lines, where it may go on. */
export function draw(frame, drawn, _theme, choose) {
  const { board, walk, attempt } = frame;
  const surface = drawn ?? emptyBoard(board);
  const visits = new Map();
  for (const [at, cell] of walk.entries()) visits.set(cell, at + 1);
  const may = new Set(frame.may ?? ahead(board, walk));
  surface.cells.forEach((cell, at) => {
    const tint = `v${Math.ceil((board.values[at] / board.size) * 6)}`;
    const kind = `${tint} ${visits.has(at) ? "seen" : ""} ${at === walk.at(-1) ? "now" : ""} ${may.has(at) ? "may" : ""}`;
    if (!cell || surface.kinds[at] === kind) return;
    surface.kinds[at] = kind;
    cell.setAttribute("class", kind);
  });
  const first = Math.max(1, walk.length - LEGS_DRAWN);
  const marks = walk
    .slice(first)
    .flatMap((cell, at) => legShapes(board, walk[first + at - 1], cell, walk.length - first - at));
  if (attempt?.cell !== undefined) {
    if (walk.length) marks.push(arrow("bad", middle(board, walk.at(-1)), middle(board, attempt.cell)));
    marks.push(cross(...middle(board, attempt.cell), CELL * 0.3));
  }
  surface.mark.replaceChildren(...marks);
  surface.closeUp = attempt && around(board, attempt.cell ?? walk.at(-1) ?? 0);
  surface.choose = choose;
  return surface;
}

function emptyBoard(board) {
  const { size, values, variant } = board;
  const side = size * CELL + 2 * EDGE;
  const surface = drawing(side, side, _("the board"));
  surface.kinds = [];
  surface.cells = values.map((value, at) => {
    if (!value) return undefined;
    const [x, y] = middle(board, at);
    const cell = svg(
      "g",
      {},
      svg("rect", { x: x - CELL / 2 + 0.5, y: y - CELL / 2 + 0.5, width: CELL - 1, height: CELL - 1 }),
    );
    if (size <= LARGEST_WITH_NUMBERS) cell.append(label(value, { x, y: y + 4 }));
    cell.addEventListener("click", () => surface.choose?.(at));
    return cell;
  });
  surface.mark = svg("g", { class: "legs" });
  if (variant !== "hex") surface.append(...axes(size, size, CELL, EDGE, EDGE, 1));
  surface.append(...surface.cells.filter(Boolean), surface.mark);
  return surface;
}

/** Where the cells of a board are drawn: [cell, x, y] each. */
export function spots(board) {
  return [...board.values.keys()].filter((cell) => board.values[cell]).map((cell) => [cell, ...middle(board, cell)]);
}

function middle({ size, variant }, cell) {
  const [row, column] = [Math.floor(cell / size), cell % size];
  const shift = variant === "hex" ? (size - 1 - row) / 2 : 0;
  return [EDGE + (column + 0.5 + shift) * CELL, EDGE + (row + 0.5) * CELL];
}

/** A leg of the walk: a line; where it passes a border, one stub out of its start and one into its end, with one letter. */
function legShapes(board, from, to, age) {
  const way = board.ends[from].indexOf(to);
  const [start, end] = [middle(board, from), middle(board, to)];
  const name = age === 1 ? "leg new" : age <= 8 ? "leg" : "leg old";
  if (!board.turns[from][way]) return [age === 1 ? arrow(name, start, end) : line(name, start, end)];
  const [down, right] = board.ways[way];
  const turned = board.variant === "klein8" && passesTop(board, from, down) ? -1 : 1;
  const length = CELL * 0.85;
  const out = [start[0] + right * length, start[1] + down * length];
  const back = [end[0] - turned * right * length, end[1] - down * length];
  const shapes = [
    line(`${name} stub`, start, out),
    age === 1 ? arrow(`${name} stub`, back, end) : line(`${name} stub`, back, end),
  ];
  if (age > 3) return shapes;
  const letter = "abc"[age - 1];
  return [
    ...shapes,
    label(letter, { class: "letter", x: out[0], y: out[1] + 3 }),
    label(letter, { class: "letter", x: back[0], y: back[1] + 3 }),
  ];
}

function passesTop({ size, values }, from, down) {
  const row = Math.floor(from / size) + down * values[from];
  return row < 0 || row >= size;
}

function line(name, [x1, y1], [x2, y2]) {
  return svg("line", { class: name, x1, y1, x2, y2 });
}

/** The part of the drawing that shows an impossible cell: [x, y, width, height]. */
function around(board, cell) {
  const side = Math.min(5, board.size);
  const begin = (at) => EDGE + Math.min(board.size - side, Math.max(0, at - 2)) * CELL;
  return [begin(cell % board.size), begin(Math.floor(cell / board.size)), side * CELL, side * CELL];
}

/** What would be refused by the first numbers of a file alone; an empty text where nothing would. */
export function peek(head, input) {
  const numbers = /^[ \t\r\n]*[0-9]{1,15}[ \t\r\n]+([0-9]{1,15})(?=[ \t\r\n])/.exec(head);
  if (!numbers) return "does not begin with a sum and a number of cells";
  const { bySteps, values } = readBoard(input);
  const cells = values.filter(Boolean).length;
  return !bySteps && Number(numbers[1]) > cells ? `says ${numbers[1]} cells, but the board has ${cells}` : "";
}

/** The row and the column of a move. */
function placeOf(move) {
  const [row, column] = move.split(" ");
  return { row, column };
}

/** The duel: {board, walk, begins}; A places the piece, B says who begins, then they move it in turn. */
export const game = {
  start(text) {
    const [board, rest] = text.split("\nwalk ");
    const [walk, begins] = (rest ?? "").split("\n");
    const numbers = walk ? walk.split(" ").map(Number) : [];
    const position = {
      board: readBoard(board),
      walk: [],
      begins: begins?.startsWith("begins ") ? begins.at(-1) : undefined,
    };
    for (let at = 0; at < numbers.length; at += 2)
      position.walk.push(cellOf(position.board, numbers[at], numbers[at + 1]));
    return position;
  },
  turn({ walk, begins }) {
    if (!begins) return walk.length ? 1 : 0;
    const first = begins === "B" ? 1 : 0;
    return walk.length % 2 ? first : 1 - first;
  },
  apply({ board, walk, begins }, move) {
    if (!game.moves({ board, walk, begins }).includes(move)) throw new Error(`${move} is no legal move here`);
    if (walk.length && !begins) return { board, walk, begins: move };
    return { board, walk: [...walk, cellOf(board, ...move.split(" ").map(Number))], begins };
  },
  over: ({ board, walk, begins }) => Boolean(begins) && ahead(board, walk).length === 0,
  moves({ board, walk, begins }) {
    if (walk.length && !begins) return ["A", "B"];
    const cells = walk.length ? ahead(board, walk) : [...board.values.keys()].filter((cell) => board.values[cell]);
    return cells.map((cell) => `${Math.floor(cell / board.size) + 1} ${(cell % board.size) + 1}`);
  },
  describe: (move) =>
    move.length === 1
      ? _("%(player)s begins", { player: move })
      : _("go to row %(row)s, column %(column)s", placeOf(move)),
  say(position) {
    const { board, walk, begins } = position;
    if (!walk.length) return "A places the piece.";
    const last = walk.at(-1);
    const sum = walk.reduce((total, cell) => total + board.values[cell], 0);
    const cells = ahead(board, walk).length;
    const next = begins ? ngettext("%(num)s reachable cell", "%(num)s reachable cells", cells) : _("B says who begins");
    const values = { cell: nameOf(board, last), value: board.values[last], sum, next };
    return _("The piece is at %(cell)s with %(value)s; the prize is %(sum)s; %(next)s.", values);
  },
  draw({ board, walk, begins }, drawn, theme, _last, choose) {
    const asks = walk.length && !begins;
    const may = asks ? [] : undefined;
    const pick =
      choose && !asks && ((cell) => choose(`${Math.floor(cell / board.size) + 1} ${(cell % board.size) + 1}`));
    return draw({ board, walk, may }, drawn, theme, pick);
  },
};
