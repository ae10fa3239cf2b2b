// The board of RollingBalls: balls that roll until something stops them, one frame a roll. Drawn on a canvas, since 532
// balls as shapes of a document miss pictures.

const KEY_FRAMES = 128;
const WAYS = [[0, -1], [1, 0], [0, 1], [-1, 0]];
const NAMES = ["left", "down", "right", "up"];
const COLOURS = ["#0a5c9c", "#a3470a", "#2f7d32", "#7b3fa0", "#8a6d00", "#00767c", "#b3261e", "#4a5568", "#9c2f6f", "#3d4fb8"];
const WALL = -2;
const FREE = -1;

function maze(rows) {
  return rows.flatMap((row) => [...row].map((cell) => (cell === "#" ? WALL : cell === "." ? FREE : Number(cell))));
}

/** The maze, the target and the rolls; `stop` says at which roll the answer first breaks the rules. */
export function parse(input, answer) {
  const lines = input.trimEnd().split("\n");
  const height = Number(lines[0]);
  const width = lines[1].length;
  const cells = Int8Array.from(maze(lines.slice(1, height + 1)));
  const target = Int8Array.from(maze(lines.slice(height + 2, 2 * height + 2)));
  const numbers = answer.split(/\s+/).filter(Boolean).map(Number);
  const steps = [];
  const board = cells.slice();
  let stop;
  for (let at = 1; at + 2 < numbers.length && steps.length < numbers[0]; at += 3) {
    const [row, column, way] = numbers.slice(at, at + 3);
    const from = row * width + column;
    if (!(row >= 0 && row < height && column >= 0 && column < width && board[from] >= 0 && way in WAYS)) {
      stop = `Roll ${steps.length + 1}: no ball stands at (${row},${column}).`;
      break;
    }
    const to = end(board, width, height, from, way);
    steps.push({ from, to, way });
    move(board, from, to);
  }
  return { start: { width, height, cells, target }, steps, stop };
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
export function frames({ start, steps }) {
  const keys = [start.cells];
  const board = start.cells.slice();
  steps.forEach((roll, at) => {
    move(board, roll.from, roll.to);
    if ((at + 1) % KEY_FRAMES === 0) keys.push(board.slice());
  });
  return {
    count: steps.length,
    seek(step) {
      const cells = keys[Math.floor(step / KEY_FRAMES)].slice();
      for (let at = step - (step % KEY_FRAMES); at < step; at++) move(cells, steps[at].from, steps[at].to);
      return { ...start, cells, roll: steps[step - 1], step, count: steps.length, ...score(cells, start.target) };
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

/** The maze of a frame: walls, targets dashed, balls with their digits, those on their target ringed, the last roll. */
export function draw({ width, height, cells, target, roll }, drawn) {
  const side = Math.max(8, Math.min(24, Math.floor(720 / Math.max(width, height))));
  const canvas = drawn ?? document.createElement("canvas");
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * side * ratio;
  canvas.height = height * side * ratio;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "the maze");
  const pen = canvas.getContext("2d");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const [ground, line, wall, ring] = dark ? ["#181b1f", "#2b3036", "#5d646d", "#e9eaec"] : ["#fff", "#dddcd6", "#3b3f45", "#191b1e"];
  pen.scale(ratio, ratio);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `700 ${Math.round(side * 0.6)}px system-ui, sans-serif`;
  cells.forEach((cell, at) => {
    const [x, y] = [(at % width) * side, Math.floor(at / width) * side];
    pen.fillStyle = cell === WALL ? wall : ground;
    pen.fillRect(x, y, side, side);
    pen.strokeStyle = line;
    pen.strokeRect(x, y, side, side);
    const wanted = target[at];
    if (wanted >= 0) {
      pen.strokeStyle = COLOURS[wanted];
      pen.lineWidth = 2;
      pen.setLineDash([3, 2]);
      pen.strokeRect(x + 2, y + 2, side - 4, side - 4);
      pen.setLineDash([]);
      pen.lineWidth = 1;
    }
    if (cell < 0) return;
    pen.fillStyle = COLOURS[cell];
    pen.beginPath();
    pen.arc(x + side / 2, y + side / 2, side * 0.4, 0, 2 * Math.PI);
    pen.fill();
    if (cell === wanted) {
      pen.strokeStyle = ring;
      pen.lineWidth = 2;
      pen.stroke();
      pen.lineWidth = 1;
    }
    pen.fillStyle = "#fff";
    pen.fillText(cell, x + side / 2, y + side / 2 + 1);
  });
  if (roll) {
    const middle = (at) => [(at % width) * side + side / 2, Math.floor(at / width) * side + side / 2];
    pen.strokeStyle = dark ? "#ffb45c" : "#a34a00";
    pen.lineWidth = 3;
    pen.beginPath();
    pen.moveTo(...middle(roll.from));
    pen.lineTo(...middle(roll.to));
    pen.stroke();
  }
  return canvas;
}

/** The frame in words. */
export function say({ width, roll, step, count, right, wrong, empty, points }) {
  const sums = `${right} right, ${wrong} of another colour, ${empty} empty: ${points} points2`;
  if (!roll) return `The start, ${count} rolls to come. ${sums}.`;
  const place = (cell) => `(${Math.floor(cell / width)},${cell % width})`;
  const way = roll.from === roll.to ? "is blocked" : `rolls ${NAMES[roll.way]} to ${place(roll.to)}`;
  return `Roll ${step} of ${count}: the ball at ${place(roll.from)} ${way}. ${sums}.`;
}
