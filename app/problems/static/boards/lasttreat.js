// The board of the last treat: two piles with the move. One frame per line of the answer; as a game, one frame per move.
// Contestants can read this file during a contest: it knows which moves are allowed, but neither which ones win nor how to
// find them. So it draws no table of positions.
import { place, readIntegers, rejection } from "../board/numbers.js";
import { drawing, label, svg } from "../board/shapes.js";

const SIDE = 300;
const MOST_DRAWN = 40;

export const EXAMPLE = { input: "3\n2 5 2\n1 2 4\n7 9 4\n", answer: "0 1\n0 0\n0 3\n" };

/** The positions with their moves, and the first one that no rule allows, in the server's words. */
export function parse(input, answer) {
  const given = input.trim().split(/\s+/);
  const count = Number(given[0]);
  const { words, offsets, fault } = readIntegers(answer, { most: 2 * count });
  const wrong = fault ?? countFault(words, count);
  const steps = [];
  for (let at = 0; at < count && 2 * at + 1 < words.length; at++) {
    steps.push([given[3 * at + 1], given[3 * at + 2], given[3 * at + 3], words[2 * at], words[2 * at + 1]]);
  }
  const illegal = steps.findIndex((step) => step[3] + step[4] !== "00" && illegality(...step.map(BigInt)));
  if (wrong) return { start: count, steps, raw: null, stop: { text: wrong } };
  if (illegal >= 0) {
    const where = `position ${illegal + 1} (${place(answer, offsets[2 * illegal])})`;
    return {
      start: count,
      steps,
      raw: null,
      stop: { text: rejection(where, ...illegality(...steps[illegal].map(BigInt))), at: illegal + 1 },
    };
  }
  return { start: count, steps, raw: null };
}

/** What is wrong with an answer whose moves are allowed, from where the server says it is. */
export function judged({ steps }, where) {
  const at = Number(/^position ([0-9]+)$/.exec(where)?.[1]);
  return at <= steps.length ? { at, judged: true } : undefined;
}

function countFault(words, count) {
  if (words.length === 2 * count) return undefined;
  return rejection("end of file", `${2 * count} numbers for ${count} positions`, words.length || "an empty file");
}

/** Why treats cannot be taken, as [expected, found]; undefined where they can. */
export function illegality(cakes, fruit, most, x, y) {
  if ((x === 0n && y === 0n) || (x !== y && x !== 0n && y !== 0n))
    return ["a number from one pile or the same number from both", `${x} ${y}`];
  const larger = x > y ? x : y;
  if (larger > most) return [`at most ${most} from a pile`, `${larger}`];
  if (x > cakes) return [`at most ${cakes} cakes`, `${x}`];
  return y > fruit ? [`at most ${fruit} pieces of fruit`, `${y}`] : undefined;
}

/** The positions in the order of the input. */
export function frames({ steps, stop }) {
  return {
    count: steps.length,
    notable: (step) => step === stop?.at,
    seek(step) {
      if (step === 0) return { step, count: steps.length };
      const [a, b, k, x, y] = steps[step - 1].map(BigInt);
      // The judge stops at the first position that is wrong: those before it are right, and the others are not looked at.
      const verdict = step === stop?.at ? "wrong" : stop?.judged && step < stop.at ? "right" : undefined;
      return { step, count: steps.length, position: { a, b, k }, move: { x, y }, verdict };
    },
  };
}

/** The frame in words. */
export function say({ step, count, position, move, verdict }) {
  if (!position) {
    const begin = ngettext("%(num)s position, one a step.", "%(num)s positions, one a step.", count);
    return `${begin} ${_("Whether a move wins, only the judge says.")}`;
  }
  const { a, b, k } = position;
  const values = { step, count, cakes: a, fruit: b, most: k, claim: claimed(move) };
  const sentence = _(
    "Position %(step)s of %(count)s: cakes %(cakes)s, fruit %(fruit)s, at most %(most)s: %(claim)s.",
    values,
  );
  return verdict ? `${sentence} ${verdict === "wrong" ? _("Wrong.") : _("Correct.")}` : sentence;
}

const claimed = (move) => (move.x + move.y === 0n ? _("said to be lost") : taken(move));

function taken({ x, y }) {
  if (x === y) return _("take %(count)s of both", { count: x });
  return x ? _("take %(count)s of the cakes", { count: x }) : _("take %(count)s of the fruit", { count: y });
}

/** A position: its piles as bars, and the move below. */
export function draw(frame, drawn) {
  const board = drawn ?? drawing(SIDE + 40, 90, _("the position"));
  if (!frame.position) {
    board.replaceChildren(label(frame.count, { class: "big", x: SIDE / 2 + 20, y: 50 }));
    return board;
  }
  const kind = frame.verdict === "wrong" ? "lab claim wrong" : "lab claim";
  board.replaceChildren(...piles(frame), label(claimed(frame.move), { class: kind, x: 20, y: 80 }));
  board.closeUp = frame.verdict === "wrong" ? [0, 0, SIDE + 40, 90] : undefined;
  return board;
}

function piles({ position: { a, b, k }, move, choose }) {
  const largest = a > b ? a : b;
  const bar = (name, sign, count, less, y) => {
    const row = svg("g", {}, label(`${name} ${count}`, { class: "lab", x: 20, y: y - 4 }));
    const wide = (treats) => (largest ? Number((treats * 10000n) / largest) / 10000 : 0) * SIDE;
    row.append(svg("rect", { class: "sq", x: 20, y, width: SIDE, height: 12 }));
    if (count)
      row.append(svg("rect", { class: `pile ${sign}`, x: 20, y, width: Math.max(1, wide(count)), height: 12 }));
    if (less)
      row.append(
        svg("rect", { class: "eaten", x: 20 + wide(count - less), y, width: Math.max(2, wide(less)), height: 12 }),
      );
    return row;
  };
  const rows = [
    bar("cakes", "cake", a, move && move.x <= a ? move.x : 0n, 16),
    bar("fruit", "fruit", b, move && move.y <= b ? move.y : 0n, 46),
  ];
  return choose ? rows : [...rows, label(`at most ${k}`, { class: "lab end", x: SIDE + 20, y: 12 })];
}

/** What would be refused by the first numbers of a file alone; an empty text where nothing would. */
export function peek(head) {
  return /^[ \t\r\n]*([0-9]+[ \t\r\n]+[0-9]+|[0-9]*$)/.test(head) ? "" : "does not begin with two numbers";
}

/** The last treat as a game: {a, b, k, turn}. */
export const game = {
  start(text) {
    const [numbers, rest] = text.split("\n");
    const [a, b, k] = numbers.split(" ").map(BigInt);
    return { a, b, k, turn: rest ? 1 : 0 };
  },
  apply({ a, b, k, turn }, move) {
    const [x, y] = move.split(" ").map(BigInt);
    const wrong = illegality(a, b, k, x, y);
    if (wrong) throw new Error(rejection("move", ...wrong));
    return { a: a - x, b: b - y, k, turn: 1 - turn };
  },
  turn: ({ turn }) => turn,
  over: ({ a, b }) => a + b === 0n,
  moves({ a, b, k }) {
    const most = (...limits) => Number(limits.reduce((least, each) => (each < least ? each : least), k));
    const [cakes, fruit, both] = [most(a), most(b), most(a, b)];
    if (cakes + fruit + both > 60) return null;
    const list = (count, text) => Array.from({ length: count }, (_, at) => text(at + 1));
    return [...list(cakes, (i) => `${i} 0`), ...list(fruit, (i) => `0 ${i}`), ...list(both, (i) => `${i} ${i}`)];
  },
  describe: (move) => taken(Object.fromEntries(move.split(" ").map((number, at) => ["xy"[at], BigInt(number)]))),
  say: ({ a, b, k }) =>
    a + b === 0n
      ? _("The piles are empty.")
      : _("Cakes: %(cakes)s, fruit: %(fruit)s; a move takes at most %(most)s from a pile.", {
          cakes: a,
          fruit: b,
          most: k,
        }),
  draw(position, drawn, _theme, last, choose) {
    const move = last && Object.fromEntries(last.split(" ").map((number, at) => ["xy"[at], BigInt(number)]));
    const board = drawn ?? drawing(SIDE + 40, 128, _("the piles"));
    board.replaceChildren(...heaps(position, move, choose));
    return board;
  },
};

/** The piles of a game treat by treat while they are small; a click takes as many as lie from there to the end. */
function heaps(position, last, choose) {
  const { a, b, k } = position;
  if (a > BigInt(MOST_DRAWN) || b > BigInt(MOST_DRAWN)) return piles({ position });
  const step = SIDE / MOST_DRAWN + 0.5;
  const shapes = [label(`at most ${k} from a pile`, { class: "lab end", x: SIDE + 20, y: 12 })];
  const target = (move, shape) => {
    if (!choose) return shape;
    shape.classList.add("target");
    shape.addEventListener("click", () => choose(move));
    const title = svg("title");
    title.textContent = game.describe(move);
    shape.append(title);
    return shape;
  };
  for (const [at, [name, count, gone]] of [
    ["cakes", Number(a), Number(last?.x ?? 0n)],
    ["fruit", Number(b), Number(last?.y ?? 0n)],
  ].entries()) {
    const y = 40 + at * 46;
    shapes.push(label(`${name} ${count}`, { class: "lab", x: 20, y: y - 14 }));
    for (let treat = 0; treat < Math.min(MOST_DRAWN, count + gone); treat++) {
      const taken = count - treat;
      const shape = svg("circle", {
        class: treat < count ? `treat ${at ? "fruit" : "cake"}` : "gone",
        cx: 24 + treat * step,
        cy: y,
        r: 3.3,
      });
      shapes.push(treat < count && BigInt(taken) <= k ? target(at ? `0 ${taken}` : `${taken} 0`, shape) : shape);
    }
  }
  const both = Math.min(Number(a), Number(b), Number(k < 99n ? k : 99n));
  if (choose && both) shapes.push(label("from both:", { class: "lab", x: 20, y: 122 }));
  for (let each = 1; choose && each <= Math.min(both, 20); each++) {
    shapes.push(
      target(
        `${each} ${each}`,
        svg(
          "g",
          { class: "key" },
          svg("rect", { x: 76 + each * 12, y: 112, width: 11, height: 13 }),
          label(each, { x: 81.5 + each * 12, y: 122 }),
        ),
      ),
    );
  }
  return shapes;
}
