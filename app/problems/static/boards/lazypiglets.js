// The board of the lazy piglets: up to four piglets that walk, or jump over each other, one frame a step of the plan.
import { pair, place, readIntegers, rejection } from "../board/numbers.js";
import { arrow, axes, cross, drawing, label, svg } from "../board/shapes.js";

const CELL = 20;
const EDGE = 16;
const MOST_STEPS = 2000;
const UNREACHABLE = -1;

export const EXAMPLE = {
  input: "4\n....\n.##.\n....\n....\n2\n1 1\n1 2\n4 1\n4 4\n",
  answer: "8\n1 1 2 1\n2 1 3 1\n3 1 4 1\n1 2 1 3\n1 3 1 4\n1 4 2 4\n2 4 3 4\n3 4 4 4\n",
};

/** The map, the steps of the plan up to the first that breaks the rules, and what the server says of it. */
export function parse(input, answer) {
  const start = readMap(input);
  const { words, offsets, fault } = readIntegers(answer, { most: 1 + 4 * MOST_STEPS, negative: true });
  const wrong = fault ?? countFault(answer, words, offsets);
  const claim = words.length ? Number(words[0]) : undefined;
  const cells = [start.pigs];
  const steps = [];
  const stopped = (text, attempt) => ({ start, claim, steps, cells, raw: null, stop: { text, attempt } });
  for (let number = 1; 4 * number < words.length; number++) {
    const step = words.slice(4 * number - 3, 4 * number + 1).map(Number);
    const illegal = illegality(start, cells.at(-1), step);
    if (illegal) {
      const where = `step ${number} (${place(answer, offsets[4 * number - 3])})`;
      return stopped(wrong ?? rejection(where, ...illegal.words), { step, wrong: illegal.at });
    }
    const [r1, c1, r2, c2] = step;
    cells.push(cells.at(-1).map((pig) => (pig[0] === r1 && pig[1] === c1 ? [r2, c2] : pig)));
    steps.push(step);
  }
  if (wrong) return stopped(wrong);
  const missed =
    steps.length || claim === 0 ? start.haystacks.find((cell) => !standing(cells.at(-1), cell)) : undefined;
  if (!missed) return { start, claim, steps, cells, raw: 1 };
  const where = steps.length ? "end of the plan" : "line 1";
  return stopped(
    rejection(where, `a piglet on every haystack after ${steps.length} steps`, `none at ${pair(...missed)}`),
  );
}

function readMap(input) {
  const lines = input.split("\n");
  const size = Number(lines[0]);
  const count = Number(lines[size + 1]);
  const cells = (first) => lines.slice(first, first + count).map((line) => line.split(" ").map(Number));
  const trees = lines.slice(1, size + 1).map((line) => [...line].map((cell) => cell === "#"));
  return { size, trees, pigs: cells(size + 2), haystacks: cells(size + 2 + count) };
}

function countFault(answer, words, offsets) {
  if (!words.length) return rejection(place(answer, answer.length), "the number of steps", "an empty file");
  const steps = Number(words[0]);
  if (steps < UNREACHABLE || steps > MOST_STEPS) {
    return rejection(place(answer, offsets[0]), `a number of steps up to ${MOST_STEPS}, or -1`, words[0]);
  }
  const [expected, given] = [4 * Math.max(steps, 0), words.length - 1];
  if (given > 0 && given < expected)
    return rejection("end of file", `no plan, or ${expected} numbers for ${steps} steps`, given);
  if (given <= expected) return undefined;
  const said = steps === UNREACHABLE ? "-1" : `${steps} steps`;
  return rejection(place(answer, offsets[1 + expected]), `nothing after ${said}`, `${given - expected} more numbers`);
}

function standing(pigs, [row, column]) {
  return pigs.some(([r, c]) => r === row && c === column);
}

/** Why a step is illegal: {words: [expected, found], at: the cell that is to blame}. */
function illegality({ size, trees }, pigs, [r1, c1, r2, c2]) {
  const inside = (row, column) => row >= 1 && row <= size && column >= 1 && column <= size;
  for (const cell of [
    [r1, c1],
    [r2, c2],
  ]) {
    if (!inside(...cell)) return { words: [`rows and columns from 1 to ${size}`, pair(...cell)] };
  }
  const tree = (row, column) => trees[row - 1][column - 1];
  if (!standing(pigs, [r1, c1])) return { words: ["a piglet to move", `none at ${pair(r1, c1)}`], at: [r1, c1] };
  const shift = [Math.abs(r2 - r1), Math.abs(c2 - c1)].sort().join();
  if (shift !== "0,1" && shift !== "0,2") {
    return {
      words: ["one cell, or two over a piglet, in a row or a column", `${pair(r1, c1)} to ${pair(r2, c2)}`],
      at: [r2, c2],
    };
  }
  if (tree(r2, c2)) return { words: ["a free cell to land on", `a tree at ${pair(r2, c2)}`], at: [r2, c2] };
  if (standing(pigs, [r2, c2]))
    return { words: ["a cell without a piglet to land on", `a piglet at ${pair(r2, c2)}`], at: [r2, c2] };
  const middle = [(r1 + r2) / 2, (c1 + c2) / 2];
  if (shift !== "0,2" || standing(pigs, middle)) return undefined;
  return {
    words: ["a piglet to jump over", `${tree(...middle) ? "a tree" : "none"} at ${pair(...middle)}`],
    at: middle,
  };
}

/** The map after each number of steps. */
export function frames({ start, claim, steps, cells, stop }) {
  const reached = (step) => start.haystacks.filter((cell) => standing(cells[step], cell)).length;
  return {
    count: steps.length + (stop?.attempt ? 1 : 0),
    notable: (step) =>
      step > 0 && step < cells.length && (isJump(steps[step - 1]) || reached(step) > reached(step - 1)),
    seek(step) {
      const made = Math.min(step, steps.length);
      const attempt = step > made ? stop.attempt : undefined;
      const moved = attempt ? undefined : steps[made - 1];
      return { ...start, claim, pigs: cells[made], moved, attempt, step, count: steps.length, reached: reached(made) };
    },
  };
}

function isJump([r1, c1, r2, c2]) {
  return Math.abs(r1 - r2) + Math.abs(c1 - c2) === 2;
}

/** The map of a frame: trees, haystacks (filled once reached), numbered piglets, the last step as an arrow. */
export function draw(frame, drawn) {
  const board = drawn ?? emptyMap(frame);
  for (const [at, cell] of frame.haystacks.entries())
    board.stacks[at].setAttribute("class", standing(frame.pigs, cell) ? "stack full" : "stack");
  for (const [at, [row, column]] of frame.pigs.entries())
    board.pigs[at].setAttribute("transform", `translate(${middle(row, column).join()})`);
  const marks = [];
  if (frame.moved) marks.push(stepArrow("", frame.moved));
  if (frame.attempt) {
    const { size, attempt } = frame;
    const [r1, c1, r2, c2] = attempt.step;
    if (Math.min(r1, c1, r2, c2) >= 0 && Math.max(r1, c1, r2, c2) <= size + 1)
      marks.push(stepArrow("bad", attempt.step));
    if (attempt.wrong) marks.push(cross(...middle(...attempt.wrong), CELL * 0.3));
  }
  board.mark.replaceChildren(...marks);
  board.closeUp = frame.attempt && around(frame);
  return board;
}

function stepArrow(name, [r1, c1, r2, c2]) {
  return arrow(name, middle(r1, c1), middle(r2, c2), isJump([r1, c1, r2, c2]) ? 0.35 : 0);
}

function emptyMap({ size, trees, haystacks, pigs }) {
  const side = size * CELL + EDGE;
  const board = drawing(side + 2, side + 2, _("the map"));
  board.append(...axes(size, size, CELL, EDGE, EDGE, 1));
  for (const [r, row] of trees.entries()) {
    for (const [c, tree] of row.entries()) board.append(tree ? treeAt(r + 1, c + 1) : square("sq", r + 1, c + 1));
  }
  board.stacks = haystacks.map(([row, column]) => stackAt(row, column));
  board.pigs = pigs.map((_, at) => pigNumber(at + 1));
  board.mark = svg("g");
  board.append(...board.stacks, ...board.pigs, board.mark);
  return board;
}

function middle(row, column) {
  return [EDGE + (column - 0.5) * CELL, EDGE + (row - 0.5) * CELL];
}

function square(name, row, column) {
  const [x, y] = middle(row, column);
  return svg("rect", { class: name, x: x - CELL / 2 + 0.5, y: y - CELL / 2 + 0.5, width: CELL - 1, height: CELL - 1 });
}

function treeAt(row, column) {
  const [x, y] = middle(row, column);
  return svg("path", { class: "tree", d: `M${x} ${y - 8}l6 10h-4v5h-4v-5h-4Z` });
}

function stackAt(row, column) {
  const [x, y] = middle(row, column);
  return svg("path", { class: "stack", d: `M${x - 9} ${y + 9}q0-18 9-18t9 18Z` });
}

function pigNumber(number) {
  return svg("g", { class: "pig" }, svg("circle", { r: CELL * 0.34 }), label(number, { y: 3.6 }));
}

/** The part of the drawing that shows an illegal step: [x, y, width, height]. */
function around({ size, attempt }) {
  const [row, column] = attempt.wrong ?? attempt.step.map((at) => Math.min(size, Math.max(1, at)));
  const side = Math.min(5, size);
  const begin = (at) => EDGE + Math.min(size - side, Math.max(0, at - 3)) * CELL;
  return [begin(column), begin(row), side * CELL, side * CELL];
}

/** The frame in words. */
export function say({ claim, moved, attempt, step, count, reached, haystacks }) {
  const sums = ngettext(
    "%(reached)s of %(num)s haystack have a piglet.",
    "%(reached)s of %(num)s haystacks have a piglet.",
    haystacks.length,
    { reached },
  );
  const ends = ([r1, c1, r2, c2]) => ({ step, count, from: pair(r1, c1), to: pair(r2, c2) });
  if (attempt) return `${_("Step %(step)s, %(from)s to %(to)s, is not possible.", ends(attempt.step))} ${sums}`;
  if (moved && isJump(moved))
    return `${_("Step %(step)s of %(count)s: jump from %(from)s to %(to)s.", ends(moved))} ${sums}`;
  if (moved) return `${_("Step %(step)s of %(count)s: walk from %(from)s to %(to)s.", ends(moved))} ${sums}`;
  if (claim === undefined) return `${_("The answer is empty.")} ${sums}`;
  if (claim === UNREACHABLE) return `${_("The answer says that no plan is enough.")} ${sums}`;
  if (count) {
    const steps = ngettext(
      "The answer says %(num)s step, %(count)s of them to come.",
      "The answer says %(num)s steps, %(count)s of them to come.",
      claim,
      { count },
    );
    return `${steps} ${sums}`;
  }
  if (claim > 0) {
    return `${ngettext("The answer says %(num)s step, without a plan.", "The answer says %(num)s steps, without a plan.", claim)} ${sums}`;
  }
  return `${ngettext("The answer says %(num)s step.", "The answer says %(num)s steps.", claim)} ${sums}`;
}

/** What would be refused by the first numbers of a file alone; an empty text where nothing would. */
export function peek(head) {
  const count = /^[ \t\r\n]*(-?[0-9]{1,15})(?=[ \t\r\n])/.exec(head)?.[1];
  return Number(count ?? 0) > MOST_STEPS || Number(count ?? 0) < UNREACHABLE
    ? `says ${count} steps; at most ${MOST_STEPS} are allowed, or -1`
    : "";
}
