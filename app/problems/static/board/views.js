// What a <jurado-board> shows: an answer, parsed and drawn by the module of its problem.
import { FrameView } from "./frames.js";

const LARGE = 200_000; // characters that are parsed beside the page

/** The bytes of a file as text, one character a byte, as parsers count them. */
export function textOf(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

/** A file of the server as such a text. */
export async function fetchText(address) {
  const reply = await fetch(address);
  if (!reply.ok)
    throw new Error(
      (await reply.json().catch(() => ({}))).message ?? _("the server says %(status)s", { status: reply.status }),
    );
  return textOf(new Uint8Array(await reply.arrayBuffer()));
}

/** Open an answer: {board or frame, input, answer, where}; gives a view with count, stop, first, element and seek(step).
 *
 * `where` is the place that the server's rejection names: for problems whose boards do not know what is right.
 */
export async function openView(source) {
  if (source.frame) return new FrameView(source);
  const module = await import(`../boards/${source.board}.js`);
  const isLarge = source.input.length + source.answer.length > LARGE;
  const parsed = isLarge ? await parseApart(source) : module.parse(source.input, source.answer);
  if (source.where && !parsed.stop) parsed.stop = module.judged?.(parsed, source.where);
  return new ModuleView(module, parsed);
}

function parseApart({ board, input, answer }) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve, reject) => {
    worker.addEventListener("message", ({ data }) =>
      data.fault ? reject(new Error(data.fault)) : resolve(data.parsed),
    );
    worker.addEventListener("error", (event) => reject(new Error(event.message || _("the parser has failed"))));
    worker.postMessage({ board, input, answer });
  }).finally(() => worker.terminate());
}

/** The colours of the page for what is drawn on a canvas: the style sheet's own, as they are now. */
function themeOf(element) {
  const style = getComputedStyle(element);
  const known = new Map();
  const colour = (name) => {
    if (!known.has(name)) {
      element.style.color = `var(${name})`;
      known.set(name, style.color);
      element.style.color = "";
    }
    return known.get(name);
  };
  const [red, green, blue] = colour("--card")
    .match(/[\d.]+/g)
    .map(Number);
  return { colour, dark: red + green + blue < 384 };
}

/** An answer on the board of these pages' own module; with `choose` the last step takes moves by clicks. */
export class ModuleView {
  constructor(module, parsed) {
    this.module = module;
    this.frames = module.frames(parsed);
    this.count = this.frames.count;
    this.isStopped = parsed.stop !== undefined;
    this.stop = parsed.stop?.text; // what only the server knows has its words alone
    this.raw = parsed.raw;
    this.steps = parsed.steps.length;
    this.first = parsed.stop ? (parsed.stop.at ?? this.count) : 0; // the step that shows what is wrong
    this.curve = this.frames.curve;
    this.isNotable = this.frames.notable;
    this.toggles = module.toggles?.() ?? {}; // what a reader may have shown beside the board, by its name
    this.shown = {};
    this.element = document.createElement("div");
    this.element.className = "surface";
  }

  /** Draw the board after so many steps; gives the step in words. */
  seek(step) {
    const frame = this.frames.seek(Math.min(step, this.count), this.shown);
    if (this.choose && step >= this.count) frame.choose = this.choose;
    const drawing = this.module.draw(frame, this.drawing, themeOf(this.element));
    if (drawing !== this.drawing) this.element.replaceChildren(drawing);
    this.drawing = drawing;
    return this.module.say(frame);
  }

  /** A step in words, without drawing it. */
  say(step) {
    return this.module.say(this.frames.seek(step, this.shown));
  }
}
