// The board of Comesolo: pieces that jump over each other in eight directions, one frame a jump.
import { svg } from "./board.js";

const CELL = 20;
const KEY_FRAMES = 64;

/** The board and the jumps; `stop` says at which jump the answer first breaks the rules. */
export function parse(input, answer) {
  const [first, ...rows] = input.trimEnd().split("\n");
  const size = Number(first);
  const start = new Uint8Array(size * size);
  rows.slice(0, size).forEach((row, r) => [...row].forEach((cell, c) => (start[r * size + c] = cell === "o" ? 1 : 0)));
  const numbers = answer.split(/\s+/).filter(Boolean).map(Number);
  const steps = [];
  let stop;
  const board = start.slice();
  for (let at = 1; at + 3 < numbers.length && steps.length < numbers[0]; at += 4) {
    const [r1, c1, r2, c2] = numbers.slice(at, at + 4);
    const fault = faultOf(board, size, r1, c1, r2, c2);
    if (fault) {
      stop = `Jump ${steps.length + 1}, (${r1},${c1}) to (${r2},${c2}): ${fault}.`;
      break;
    }
    const jump = { from: r1 * size + c1, over: ((r1 + r2) / 2) * size + (c1 + c2) / 2, to: r2 * size + c2 };
    [board[jump.from], board[jump.over], board[jump.to]] = [0, 0, 1];
    steps.push(jump);
  }
  return { start: { size, cells: start }, steps, stop };
}

function faultOf(board, size, r1, c1, r2, c2) {
  if ([r1, c1, r2, c2].some((each) => !Number.isInteger(each) || each < 0 || each >= size)) return "it leaves the board";
  const far = `${Math.abs(r2 - r1)},${Math.abs(c2 - c1)}`;
  if (!["0,2", "2,0", "2,2"].includes(far)) return "a jump goes two cells along a row, a column or a diagonal";
  if (!board[r1 * size + c1]) return "no piece stands where it begins";
  if (!board[((r1 + r2) / 2) * size + (c1 + c2) / 2]) return "the cell between is empty";
  return board[r2 * size + c2] ? "the cell where it ends is taken" : "";
}

/** Boards after each number of jumps: whole ones every 64 jumps, the others played from there. */
export function frames({ start, steps }) {
  const keys = [start.cells];
  const board = start.cells.slice();
  steps.forEach((jump, at) => {
    play(board, jump);
    if ((at + 1) % KEY_FRAMES === 0) keys.push(board.slice());
  });
  const pieces = start.cells.reduce((sum, cell) => sum + cell, 0);
  return {
    count: steps.length,
    seek(step) {
      const cells = keys[Math.floor(step / KEY_FRAMES)].slice();
      for (let at = step - (step % KEY_FRAMES); at < step; at++) play(cells, steps[at]);
      return { size: start.size, cells, jump: steps[step - 1], step, count: steps.length, left: pieces - step };
    },
  };
}

function play(board, jump) {
  board[jump.from] = board[jump.over] = 0;
  board[jump.to] = 1;
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
  board.mark.replaceChildren(...(frame.jump ? jumpShapes(frame) : []));
  return board;
}

function emptyBoard(size) {
  const side = size * CELL;
  const board = svg("svg", { class: "bd", viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": "the board" });
  board.pieces = [];
  board.kinds = [];
  for (let at = 0; at < size * size; at++) {
    const [cx, cy] = middle(size, at);
    board.append(svg("rect", { class: "sq", x: cx - CELL / 2 + 0.5, y: cy - CELL / 2 + 0.5, width: CELL - 1, height: CELL - 1 }));
    board.pieces.push(svg("circle", { cx, cy }));
  }
  board.mark = svg("g");
  board.append(...board.pieces, board.mark);
  return board;
}

function middle(size, cell) {
  return [(cell % size) * CELL + CELL / 2, Math.floor(cell / size) * CELL + CELL / 2];
}

function jumpShapes({ size, jump }) {
  const [[x1, y1], [x2, y2], [x3, y3]] = [jump.from, jump.over, jump.to].map((cell) => middle(size, cell));
  const [bendX, bendY] = [x2 + (y3 - y1) * 0.25, y2 - (x3 - x1) * 0.25];
  return [
    svg("circle", { class: "from", cx: x1, cy: y1, r: CELL * 0.36 }),
    svg("circle", { class: "gone", cx: x2, cy: y2, r: CELL * 0.36 }),
    svg("path", { class: "hop", d: `M${x1} ${y1}Q${bendX} ${bendY} ${x3} ${y3}` }),
  ];
}

/** The frame in words. */
export function say({ size, jump, step, count, left }) {
  if (!jump) return `The start: ${left} pieces, ${count} jumps to come.`;
  const place = (cell) => `(${Math.floor(cell / size)},${cell % size})`;
  return `Jump ${step} of ${count}: ${place(jump.from)} to ${place(jump.to)}, eats ${place(jump.over)}, ${left} pieces left.`;
}
