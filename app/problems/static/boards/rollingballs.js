// The board of Rolling Balls: balls that roll until something stops them, one frame a roll. Drawn on a canvas, since 532
// balls as shapes of a document miss pictures.
import { pair, place, readIntegers, rejection } from "../board/numbers.js";

const KEY_FRAMES = 128;
const LARGEST_ANSWER = 4 * 2 ** 20;
const ROLLS_PER_BALL = 20;
const WAYS = [
  [0, -1],
  [1, 0],
  [0, 1],
  [-1, 0],
];
const COLOURS = [
  "#0a5c9c",
  "#a3470a",
  "#2f7d32",
  "#7b3fa0",
  "#8a6d00",
  "#00767c",
  "#b3261e",
  "#4a5568",
  "#9c2f6f",
  "#3d4fb8",
];
const RIMS = [
  "#7fc0ff",
  "#ffb07a",
  "#8fd694",
  "#d3a8f0",
  "#e3c860",
  "#6fd6dc",
  "#ff9d94",
  "#b6c2d4",
  "#f2a1cf",
  "#aab7ff",
];
const WALL = -2;
const FREE = -1;

export const EXAMPLE = {
  input: `10\n.0........\n${"..........\n".repeat(8)}#........1\n10\n..........\n${"..........\n".repeat(8)}#0.......1\n`,
  answer: "1\n0 1 1\n",
};

function maze(rows) {
  return rows.flatMap((row) => [...row].map((cell) => (cell === "#" ? WALL : cell === "." ? FREE : Number(cell))));
}

function readMaze(input) {
  const lines = input.split("\n");
  const height = Number(lines[0]);
  const width = lines[1].length;
  const cells = Int8Array.from(maze(lines.slice(1, height + 1)));
  const target = Int8Array.from(maze(lines.slice(height + 2, 2 * height + 2)));
  return { width, height, cells, target, balls: cells.reduce((sum, cell) => sum + (cell >= 0 ? 1 : 0), 0) };
}

/** The maze, the target, the rolls up to the first that breaks the rules, and what the server says of it. */
export function parse(input, answer) {
  const start = readMaze(input);
  const early = countFault(answer, ROLLS_PER_BALL * start.balls);
  if (early) return { start, steps: [], curve: [], raw: null, stop: { text: early } };
  const [first] = answer.match(/[^ \t\r\n]+/);
  const { words, offsets, fault } = readIntegers(answer, { most: 1 + 3 * Number(first) });
  const expected = 1 + 3 * Number(first);
  const short =
    words.length < expected
      ? rejection("end of file", `${expected} numbers, three a roll and their count`, words.length)
      : undefined;
  const played = playAll(start, answer, words, offsets);
  const stop = fault ?? short ?? played.stop?.text;
  const { steps, curve } = played;
  if (!stop) return { start, steps, curve, raw: curve.at(-1) };
  return { start, steps, curve, raw: null, stop: { text: stop, attempt: played.stop?.attempt } };
}

function playAll(start, answer, words, offsets) {
  const { width, height, target } = start;
  const board = start.cells.slice();
  const worth = (at) => (board[at] < 0 || target[at] < 0 ? 0 : board[at] === target[at] ? 2 : 1);
  const steps = [];
  const curve = [score(board, target).points];
  for (let at = 1; at + 2 < words.length; at += 3) {
    const roll = words.slice(at, at + 3);
    const wrong = illegality(start, board, roll);
    if (wrong) {
      const text = rejection(`${place(answer, offsets[at])}, roll ${steps.length + 1}`, ...wrong);
      return { steps, curve, stop: { text, attempt: attempted(start, roll.map(Number)) } };
    }
    const [row, column, way] = roll.map(Number);
    const from = row * width + column;
    const to = end(board, width, height, from, way);
    const before = worth(from) + (to === from ? 0 : worth(to));
    move(board, from, to);
    curve.push(curve.at(-1) - before + worth(from) + (to === from ? 0 : worth(to)));
    steps.push({ from, to, way });
  }
  return { steps, curve };
}

function countFault(answer, most) {
  if (answer.length > LARGEST_ANSWER)
    return rejection("file", `at most ${LARGEST_ANSWER} bytes`, `${answer.length} bytes`);
  const first = /^[ \t\r\n]*[^ \t\r\n]+/.exec(answer);
  if (!first) return rejection("end of file", "the number of rolls", "nothing");
  const { words, offsets, fault } = readIntegers(first[0], { most: 1 });
  if (fault) return fault;
  return Number(words[0]) > most ? rejection(place(answer, offsets[0]), `at most ${most} rolls`, words[0]) : undefined;
}

/** Why a roll is not possible, as [expected, found]. */
function illegality({ width, height }, board, words) {
  const limits = [
    ["a row", height],
    ["a column", width],
    ["a direction", WAYS.length],
  ];
  for (const [at, [name, limit]] of limits.entries()) {
    if (Number(words[at]) >= limit) return [`${name} below ${limit}`, words[at]];
  }
  const [row, column] = words.map(Number);
  const cell = board[row * width + column];
  return cell >= 0 ? undefined : [`a ball at ${pair(row, column)}`, cell === WALL ? "a wall" : "an empty cell"];
}

function attempted({ width, height }, [row, column]) {
  return { at: row < height && column < width ? row * width + column : undefined, text: pair(row, column) };
}

function end(board, width, height, from, way) {
  const [down, right] = WAYS[way];
  let row = Math.floor(from / width);
  let column = from % width;
  for (;;) {
    const [r, c] = [row + down, column + right];
    if (r < 0 || r >= height || c < 0 || c >= width || board[r * width + c] !== FREE) return row * width + column;
    [row, column] = [r, c];
  }
}

function move(board, from, to) {
  if (from === to) return;
  board[to] = board[from];
  board[from] = FREE;
}

/** Mazes after each number of rolls: whole ones every 128 rolls, the others played from there. */
export function frames({ start, steps, curve, stop }) {
  const keys = [start.cells];
  const board = start.cells.slice();
  steps.forEach((roll, at) => {
    move(board, roll.from, roll.to);
    if ((at + 1) % KEY_FRAMES === 0) keys.push(board.slice());
  });
  return {
    count: steps.length + (stop?.attempt ? 1 : 0),
    curve,
    notable: (step) => step > 0 && curve[step] !== curve[step - 1],
    seek(step) {
      const made = Math.min(step, steps.length);
      const cells = keys[Math.floor(made / KEY_FRAMES)].slice();
      for (let at = made - (made % KEY_FRAMES); at < made; at++) move(cells, steps[at].from, steps[at].to);
      const attempt = step > made ? stop.attempt : undefined;
      const roll = attempt ? undefined : steps[made - 1];
      return { ...start, cells, roll, attempt, step, count: steps.length, ...score(cells, start.target) };
    },
  };
}

/** How many targets have a ball of their colour, another one, or none, and the points2 of this. */
export function score(cells, target) {
  const sums = { right: 0, wrong: 0, empty: 0 };
  target.forEach((wanted, at) => {
    if (wanted >= 0) sums[cells[at] === wanted ? "right" : cells[at] >= 0 ? "wrong" : "empty"] += 1;
  });
  return { ...sums, points: 2 * sums.right + sums.wrong };
}

/** The maze of a frame: walls, targets dashed with their digits, balls, those on their target ringed, the last roll. */
export function draw(frame, drawn, theme) {
  const { width, height, cells, target } = frame;
  const side = Math.max(12, Math.min(32, Math.floor(840 / Math.max(width, height))));
  const canvas = drawn ?? document.createElement("canvas");
  const [wide, high] = [width * side, height * side];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "the maze");
  const pen = canvas.getContext("2d");
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = theme.colour("--card");
  pen.fillRect(0, 0, wide, high);
  drawGrid(pen, frame, side, theme);
  pen.lineWidth = Math.max(1.5, side / 12);
  cells.forEach((cell, at) => {
    const [x, y] = [(at % width) * side, Math.floor(at / width) * side];
    if (target[at] >= 0) drawTarget(pen, x, y, side, target[at], cell < 0, theme);
    if (cell >= 0) drawBall(pen, x + side / 2, y + side / 2, side, cell, cell === target[at] && theme.colour("--text"));
  });
  if (frame.roll) drawRoll(pen, frame, side, theme.colour("--own"));
  if (frame.attempt?.at !== undefined) drawCross(pen, frame, side, theme.colour("--wa"));
  canvas.closeUp = frame.attempt?.at === undefined ? undefined : around(frame, side);
  return canvas;
}

function drawGrid(pen, { width, height, cells }, side, theme) {
  pen.strokeStyle = theme.colour("--hair");
  pen.lineWidth = 1;
  pen.beginPath();
  for (let column = 0; column <= width; column++) pen.rect(column * side - 0.5, 0, 0, height * side);
  for (let row = 0; row <= height; row++) pen.rect(0, row * side - 0.5, width * side, 0);
  pen.stroke();
  pen.fillStyle = theme.dark ? "#5d646d" : "#3b3f45";
  cells.forEach((cell, at) => {
    if (cell === WALL) pen.fillRect((at % width) * side, Math.floor(at / width) * side, side, side);
  });
}

function drawTarget(pen, x, y, side, colour, empty, theme) {
  pen.strokeStyle = pen.fillStyle = (theme.dark ? RIMS : COLOURS)[colour];
  pen.setLineDash([side / 6, side / 8]);
  pen.strokeRect(x + 2, y + 2, side - 4, side - 4);
  pen.setLineDash([]);
  pen.font = `600 ${Math.round(side * (empty ? 0.5 : 0.3))}px system-ui, sans-serif`;
  if (empty) pen.fillText(colour, x + side / 2, y + side / 2 + 1);
  else if (side >= 20) pen.fillText(colour, x + side * 0.84, y + side * 0.2);
}

function drawBall(pen, x, y, side, colour, ring) {
  pen.fillStyle = COLOURS[colour];
  pen.beginPath();
  pen.arc(x, y, side * 0.38, 0, 2 * Math.PI);
  pen.fill();
  if (ring) {
    pen.strokeStyle = ring;
    pen.stroke();
  }
  pen.fillStyle = "#fff";
  pen.font = `700 ${Math.round(side * 0.5)}px system-ui, sans-serif`;
  pen.fillText(colour, x, y + 1);
}

function middle({ width }, side, at) {
  return [((at % width) + 0.5) * side, (Math.floor(at / width) + 0.5) * side];
}

function drawRoll(pen, frame, side, colour) {
  const [[x1, y1], [x2, y2]] = [frame.roll.from, frame.roll.to].map((at) => middle(frame, side, at));
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = Math.max(2, side / 8);
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
  const [down, right] = WAYS[frame.roll.way];
  const [tipX, tipY, size] = [x2 + right * side * 0.45, y2 + down * side * 0.45, side * 0.22];
  pen.beginPath();
  pen.moveTo(tipX, tipY);
  pen.lineTo(tipX - right * size - down * size, tipY - down * size - right * size);
  pen.lineTo(tipX - right * size + down * size, tipY - down * size + right * size);
  pen.fill();
}

function drawCross(pen, frame, side, colour) {
  const [x, y] = middle(frame, side, frame.attempt.at);
  pen.strokeStyle = colour;
  pen.lineWidth = Math.max(3, side / 6);
  pen.beginPath();
  for (const slope of [1, -1]) {
    pen.moveTo(x - side * 0.4, y - slope * side * 0.4);
    pen.lineTo(x + side * 0.4, y + slope * side * 0.4);
  }
  pen.stroke();
}

/** The part of the drawing that shows an impossible roll: [x, y, width, height]. */
function around({ width, height, attempt }, side) {
  const begin = (at, size) => Math.min(size - 5, Math.max(0, at - 2)) * side;
  return [begin(attempt.at % width, width), begin(Math.floor(attempt.at / width), height), 5 * side, 5 * side];
}

/** The frame in words. */
export function say({ width, roll, attempt, step, count, right, wrong, empty, points }) {
  const sums = _("%(right)s right, %(wrong)s of another colour, %(empty)s empty: %(points)s points2.", {
    right,
    wrong,
    empty,
    points,
  });
  if (attempt) return `${_("Roll %(step)s, from %(cell)s, is not possible.", { step, cell: attempt.text })} ${sums}`;
  if (!roll)
    return `${ngettext("The start, %(num)s roll to come.", "The start, %(num)s rolls to come.", count)} ${sums}`;
  const name = (cell) => pair(Math.floor(cell / width), cell % width);
  const values = { step, count, from: name(roll.from), to: name(roll.to) };
  if (roll.from === roll.to)
    return `${_("Roll %(step)s of %(count)s: the ball at %(from)s is blocked.", values)} ${sums}`;
  const rolls = [
    _("Roll %(step)s of %(count)s: the ball at %(from)s rolls left to %(to)s.", values),
    _("Roll %(step)s of %(count)s: the ball at %(from)s rolls down to %(to)s.", values),
    _("Roll %(step)s of %(count)s: the ball at %(from)s rolls right to %(to)s.", values),
    _("Roll %(step)s of %(count)s: the ball at %(from)s rolls up to %(to)s.", values),
  ];
  return `${rolls[roll.way]} ${sums}`;
}

/** What would be refused by the first numbers of a file alone; an empty text where nothing would. */
export function peek(head, input) {
  const count = /^[ \t\r\n]*([0-9]{1,15})(?=[ \t\r\n])/.exec(head)?.[1];
  const { balls } = readMaze(input);
  return Number(count ?? 0) > ROLLS_PER_BALL * balls
    ? `says ${count} rolls, but ${balls} balls allow ${ROLLS_PER_BALL * balls}`
    : "";
}
