// The board of Comesolo: pieces that jump over each other in eight directions, one frame a jump.
import { pair, place, readIntegers, rejection } from "../board/numbers.js";
import { arrow, axes, cross, drawing, svg } from "../board/shapes.js";

const CELL = 20;
const EDGE = 16;
const KEY_FRAMES = 64;
const WAYS = [-1, 0, 1]
  .flatMap((down) => [-1, 0, 1].map((right) => [down, right]))
  .filter(([down, right]) => down || right);

/** What a reader may have shown at every step. */
export const toggles = () => ({ able: _("Pieces that can still jump") });
export const EXAMPLE = { input: "4\n.oo.\noooo\noooo\n.oo.\n", answer: "2\n0 2 0 0\n2 1 0 1\n" };

/** The board, the jumps up to the first that breaks the rules, and what the server says of it. */
export function parse(input, answer) {
  const start = readBoard(input);
  const most = start.pieces - 1;
  const { words, offsets, fault } = readIntegers(answer, { most: 1 + 4 * most });
  const wrong = fault ?? countFault(answer, words, offsets, most);
  const board = start.cells.slice();
  const steps = [];
  const jumps = Math.min(Number(words[0] ?? 0), Math.floor((words.length - 1) / 4));
  for (let number = 1; number <= jumps; number++) {
    const jump = words.slice(4 * number - 3, 4 * number + 1);
    const illegal = illegality(board, start.size, jump);
    if (illegal) {
      const where = `jump ${number} (${place(answer, offsets[4 * number - 3])})`;
      return stopped(
        start,
        steps,
        wrong ?? rejection(where, ...illegal.words),
        attempted(start.size, jump.map(Number), illegal.at),
      );
    }
    const [r1, c1, r2, c2] = jump.map(Number);
    const step = {
      from: r1 * start.size + c1,
      over: ((r1 + r2) / 2) * start.size + (c1 + c2) / 2,
      to: r2 * start.size + c2,
    };
    play(board, step);
    steps.push(step);
  }
  return wrong ? stopped(start, steps, wrong) : { start, steps, raw: steps.length };
}

function stopped(start, steps, text, attempt) {
  return { start, steps, raw: null, stop: { text, attempt } };
}

function readBoard(input) {
  const [first, ...rows] = input.split("\n");
  const size = Number(first);
  const cells = new Uint8Array(size * size);
  for (const [r, row] of rows.slice(0, size).entries()) {
    for (const [c, cell] of [...row].entries()) cells[r * size + c] = cell === "o" ? 1 : 0;
  }
  return { size, cells, pieces: cells.reduce((sum, cell) => sum + cell, 0) };
}

function countFault(answer, words, offsets, most) {
  if (!words.length) return rejection("end of file", "the number of jumps", "an empty file");
  const [count, given] = [Number(words[0]), words.length - 1];
  if (count > most) return rejection(place(answer, offsets[0]), `at most ${most} jumps (pieces minus 1)`, words[0]);
  if (given < 4 * count) return rejection("end of file", `${4 * count} numbers for ${count} jumps`, given);
  if (given === 4 * count) return undefined;
  const where = place(answer, offsets[1 + 4 * count]);
  return rejection(where, `nothing after ${count} jumps`, `${given - 4 * count} more numbers`);
}

/** Why a jump is illegal: {words: [expected, found], at: the cell that is to blame}. */
function illegality(board, size, words) {
  const [r1, c1, r2, c2] = words.map(Number);
  if (Math.max(r1, c1, r2, c2) >= size) {
    const worst = words.reduce((most, word) => (Number(word) > Number(most) ? word : most));
    return { words: [`rows and columns below ${size}`, worst] };
  }
  if (!["0,2", "2,0", "2,2"].includes(`${Math.abs(r2 - r1)},${Math.abs(c2 - c1)}`)) {
    return {
      words: ["a landing cell two cells away in a row, a column or a diagonal", `${pair(r1, c1)} to ${pair(r2, c2)}`],
      at: [r2, c2],
    };
  }
  const [rm, cm] = [(r1 + r2) / 2, (c1 + c2) / 2];
  if (!board[r1 * size + c1])
    return { words: ["a piece to jump with", `an empty cell at ${pair(r1, c1)}`], at: [r1, c1] };
  if (!board[rm * size + cm])
    return { words: ["a piece to jump over", `an empty cell at ${pair(rm, cm)}`], at: [rm, cm] };
  if (board[r2 * size + c2]) return { words: ["an empty cell to land on", `a piece at ${pair(r2, c2)}`], at: [r2, c2] };
  return undefined;
}

/** An illegal jump as far as it can be drawn: cells on the board, undefined for others. */
function attempted(size, [r1, c1, r2, c2], at) {
  const cell = (r, c) => (r < size && c < size ? r * size + c : undefined);
  return { from: cell(r1, c1), to: cell(r2, c2), wrong: at && cell(...at), text: `${pair(r1, c1)} to ${pair(r2, c2)}` };
}

/** Boards after each number of jumps: whole ones every 64 jumps, the others played from there. */
export function frames({ start, steps, stop }) {
  const keys = [start.cells];
  const board = start.cells.slice();
  steps.forEach((jump, at) => {
    play(board, jump);
    if ((at + 1) % KEY_FRAMES === 0) keys.push(board.slice());
  });
  const count = steps.length + (stop?.attempt ? 1 : 0);
  return {
    count,
    seek(step, shown = {}) {
      const made = Math.min(step, steps.length);
      const cells = keys[Math.floor(made / KEY_FRAMES)].slice();
      for (let at = made - (made % KEY_FRAMES); at < made; at++) play(cells, steps[at]);
      const jump = step > made ? undefined : steps[made - 1];
      const isEnd = step === count && step === made;
      const frame = { size: start.size, cells, jump, step, count: steps.length, left: start.pieces - made };
      return {
        ...frame,
        attempt: step > made ? stop.attempt : undefined,
        able: isEnd || shown.able ? able(cells, start.size) : undefined,
        isEnd,
      };
    },
  };
}

function play(board, jump) {
  board[jump.from] = board[jump.over] = 0;
  board[jump.to] = 1;
}

/** The pieces that can jump. */
function able(cells, size) {
  return [...cells.keys()].filter((at) => jumpsFrom(cells, size, at).length);
}

/** The jumps of a cell: {from, over, to} each. */
function jumpsFrom(cells, size, from) {
  if (!cells[from]) return [];
  const inside = (r, c) => r >= 0 && r < size && c >= 0 && c < size;
  const [r, c] = [Math.floor(from / size), from % size];
  const within = WAYS.filter(([down, right]) => inside(r + 2 * down, c + 2 * right));
  const ways = within.map(([down, right]) => ({
    from,
    over: from + down * size + right,
    to: from + 2 * (down * size + right),
  }));
  return ways.filter(({ over, to }) => cells[over] && !cells[to]);
}

/** The legal jumps after a play. */
export function jumps(start, steps) {
  const cells = start.cells.slice();
  for (const jump of steps) play(cells, jump);
  return [...cells.keys()].flatMap((from) => jumpsFrom(cells, start.size, from));
}

/** Where the cells of a board are drawn: [cell, x, y] each. */
export function spots({ size, cells }) {
  return [...cells.keys()].map((cell) => [cell, ...middle(size, cell)]);
}

/** The board of a frame; the last jump has its start ringed, what it ate dashed, and an arc. `drawn` is changed if given. */
export function draw(frame, drawn) {
  const board = drawn ?? emptyBoard(frame.size);
  frame.cells.forEach((cell, at) => {
    const kind = !cell ? "hole" : frame.jump?.to === at ? "peg mv" : "peg";
    if (board.kinds[at] === kind) return;
    board.kinds[at] = kind;
    board.pieces[at].setAttribute("class", kind);
    board.pieces[at].setAttribute("r", cell ? CELL * 0.36 : CELL * 0.08);
  });
  board.mark.replaceChildren(
    ...(frame.jump ? jumpShapes(frame) : []),
    ...(frame.attempt ? attemptShapes(frame) : []),
    ...ableShapes(frame),
  );
  board.closeUp = frame.attempt && around(frame);
  return board;
}

function emptyBoard(size) {
  const side = size * CELL + EDGE;
  const board = drawing(side + 2, side + 2, _("the board"));
  board.pieces = [];
  board.kinds = [];
  board.append(...axes(size, size, CELL, EDGE, EDGE, 0));
  for (let at = 0; at < size * size; at++) {
    const [cx, cy] = middle(size, at);
    board.append(
      svg("rect", { class: "sq", x: cx - CELL / 2 + 0.5, y: cy - CELL / 2 + 0.5, width: CELL - 1, height: CELL - 1 }),
    );
    board.pieces.push(svg("circle", { cx, cy }));
  }
  board.mark = svg("g");
  board.append(...board.pieces, board.mark);
  return board;
}

function middle(size, cell) {
  return [EDGE + ((cell % size) + 0.5) * CELL, EDGE + (Math.floor(cell / size) + 0.5) * CELL];
}

function jumpShapes({ size, jump }) {
  const [from, over, to] = [jump.from, jump.over, jump.to].map((cell) => middle(size, cell));
  return [
    svg("circle", { class: "from", cx: from[0], cy: from[1], r: CELL * 0.36 }),
    svg("circle", { class: "gone", cx: over[0], cy: over[1], r: CELL * 0.36 }),
    arrow("", from, to, 0.25),
  ];
}

function attemptShapes({ size, attempt }) {
  const [from, to, wrong] = [attempt.from, attempt.to, attempt.wrong].map((cell) =>
    cell === undefined ? undefined : middle(size, cell),
  );
  const shapes = from ? [svg("circle", { class: "from", cx: from[0], cy: from[1], r: CELL * 0.36 })] : [];
  if (from && to && attempt.from !== attempt.to) shapes.push(arrow("bad", from, to, 0.25));
  if (wrong) shapes.push(cross(...wrong, CELL * 0.28));
  return shapes;
}

function ableShapes({ size, able: cells = [] }) {
  return cells
    .map((cell) => middle(size, cell))
    .map(([cx, cy]) => svg("circle", { class: "may", cx, cy, r: CELL * 0.44 }));
}

/** The part of the drawing that shows an illegal jump: [x, y, width, height]. */
function around({ size, attempt }) {
  const cell = attempt.wrong ?? attempt.from ?? attempt.to ?? 0;
  const side = Math.min(5, size);
  const begin = (at) => EDGE + Math.min(size - side, Math.max(0, at - 2)) * CELL;
  return [begin(cell % size), begin(Math.floor(cell / size)), side * CELL, side * CELL];
}

/** The frame in words. */
export function say({ size, jump, attempt, step, count, left, able: cells, isEnd }) {
  const rest = cells ? ` ${ableText(cells.length, isEnd)}` : "";
  if (attempt) {
    const impossible = _("Jump %(step)s, %(jump)s, is not possible.", { step, jump: attempt.text });
    return `${impossible} ${ngettext("%(num)s piece is left.", "%(num)s pieces are left.", left)}${rest}`;
  }
  if (!jump) {
    const values = {
      pieces: ngettext("%(num)s piece", "%(num)s pieces", left),
      jumps: ngettext("%(num)s jump to come", "%(num)s jumps to come", count),
    };
    return `${_("The start: %(pieces)s, %(jumps)s.", values)}${rest}`;
  }
  const name = (cell) => pair(Math.floor(cell / size), cell % size);
  const sentence = ngettext(
    "Jump %(step)s of %(count)s: %(from)s to %(to)s, eats %(over)s, %(num)s piece left.",
    "Jump %(step)s of %(count)s: %(from)s to %(to)s, eats %(over)s, %(num)s pieces left.",
    left,
    { step, count, from: name(jump.from), to: name(jump.to), over: name(jump.over) },
  );
  return sentence + rest;
}

function ableText(count, isEnd) {
  if (!count) return _("None of them can jump.");
  if (isEnd) return ngettext("%(num)s of them could still jump.", "%(num)s of them could still jump.", count);
  return ngettext("%(num)s of them can jump.", "%(num)s of them can jump.", count);
}

/** What would be refused by the first numbers of a file alone; an empty text where nothing would. */
export function peek(head, input) {
  const count = /^[ \t\r\n]*([0-9]{1,15})(?=[ \t\r\n])/.exec(head)?.[1];
  const most = readBoard(input).pieces - 1;
  return Number(count ?? 0) > most ? `says ${count} jumps, but ${most + 1} pieces allow ${most}` : "";
}
