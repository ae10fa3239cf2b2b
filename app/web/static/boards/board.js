// <jurado-board>: a board of a problem with its controls. A module of the problem parses and draws; this file plays.
//
// A module exports parse(input, answer) -> {start, steps, stop?}, frames(parsed) -> {count, seek(k)}, draw(frame, drawn) -> an
// SVG element or a canvas, which may be the one drawn before, and say(frame) -> a sentence. It knows no page, no control and no clock.

const SPEEDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const LONGEST_PLAY = 20; // seconds at the first speed
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"]; // what a style sheet gives shapes
const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function button(text, label, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = label ? "btn sq" : "btn";
  if (text.startsWith("#")) {
    // a symbol of the page: fonts lack signs for players
    element.append(svg("svg", { class: "i", "aria-hidden": "true" }, svg("use", { href: text })));
  } else {
    element.textContent = text;
  }
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("click", act);
  return element;
}

class JuradoBoard extends HTMLElement {
  connectedCallback() {
    this.tabIndex = 0;
    this.setAttribute("role", "group");
    this.addEventListener("keydown", (event) => this.#key(event));
    if (this.dataset.board) this.show(this.dataset);
  }

  disconnectedCallback() {
    this.pause();
  }

  /** Fetch an input and an answer and show them: {board, input, answer, name, step}. */
  async show({ board, input, answer, name, step }) {
    this.pause();
    this.setAttribute("aria-label", `Board of ${name}`);
    this.replaceChildren(this.#text("p", "Loading the board …", "say"));
    try {
      const [module, given, sent] = await Promise.all([import(`./${board}.js`), text(input), text(answer)]);
      this.load(module, given, sent, name, Number(step ?? 0));
    } catch (error) {
      this.replaceChildren(this.#text("p", `The board cannot be shown: ${error.message}`, "say"));
    }
  }

  /** Show the texts of an input and an answer by a module. */
  load(module, input, answer, name, step = 0) {
    this.module = module;
    this.parsed = module.parse(input, answer);
    this.frames = module.frames(this.parsed);
    this.name = name;
    this.drawn = undefined;
    const seconds = (speed) => this.frames.count / speed;
    this.speed = SPEEDS.find((speed) => speed >= 8 && seconds(speed) <= LONGEST_PLAY) ?? SPEEDS.at(-1);
    this.#controls();
    this.seek(step);
  }

  /** Show the board after so many steps. */
  seek(step) {
    this.step = Math.min(this.frames.count, Math.max(0, step));
    const frame = this.frames.seek(this.step);
    const drawing = this.module.draw(frame, this.drawn);
    if (drawing !== this.drawn) this.querySelector(".surface").replaceChildren(drawing);
    this.drawn = drawing;
    this.range.value = this.step;
    this.said.textContent = this.module.say(frame);
    this.said.setAttribute("aria-live", this.timer ? "off" : "polite");
  }

  play() {
    if (this.timer) return this.pause();
    if (this.step >= this.frames.count) this.seek(0);
    // More than 60 steps a second are several a picture.
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const pictures = still ? 2 : Math.min(60, this.speed);
    const steps = Math.max(1, Math.round(this.speed / pictures));
    this.timer = setInterval(() => {
      this.seek(this.step + steps);
      if (this.step >= this.frames.count) this.pause();
    }, 1000 / pictures);
    this.playing.textContent = "Pause";
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    if (this.playing) this.playing.textContent = "Play";
  }

  #faster(by) {
    const at = Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(this.speed) + by));
    this.speed = SPEEDS[at];
    this.pace.textContent = `${this.speed} / s`;
    if (this.timer) {
      this.pause();
      this.play();
    }
  }

  #key(event) {
    if (!this.frames || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 10 : 1;
    const acts = {
      " ": () => this.play(),
      ArrowRight: () => this.#go(this.step + far),
      ArrowLeft: () => this.#go(this.step - far),
      Home: () => this.#go(0),
      End: () => this.#go(this.frames.count),
      "+": () => this.#faster(1),
      "-": () => this.#faster(-1),
    };
    const act = acts[event.key];
    if (!act || (event.key === " " && event.target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    act();
  }

  #go(step) {
    this.pause();
    this.seek(step);
  }

  #controls() {
    const head = this.#text("h3", this.name);
    const surface = document.createElement("div");
    surface.className = "surface";
    this.said = this.#text("p", "", "say");
    this.range = document.createElement("input");
    Object.assign(this.range, { type: "range", min: 0, max: this.frames.count, className: "scrub" });
    this.range.setAttribute("aria-label", "Step");
    this.range.addEventListener("input", () => this.#go(Number(this.range.value)));
    this.playing = button("Play", "", () => this.play());
    this.playing.className = "btn main";
    this.pace = button(`${this.speed} / s`, "", () => this.#faster(this.speed === SPEEDS.at(-1) ? -10 : 1));
    this.pace.title = "Steps a second; click for more";
    const controls = document.createElement("div");
    controls.className = "ctl";
    controls.append(
      this.range,
      button("#k0", "To the start", () => this.#go(0)),
      button("#k1", "A step back", () => this.#go(this.step - 1)),
      this.playing,
      button("#k2", "A step on", () => this.#go(this.step + 1)),
      button("#k3", "To the end", () => this.#go(this.frames.count)),
      this.pace,
    );
    const footer = document.createElement("footer");
    const save = document.createElement("button");
    Object.assign(save, { type: "button", className: "btn", textContent: "Save the picture" });
    save.addEventListener("click", () => this.#save());
    footer.append(this.#text("span", "Keys: space, arrows, Home, End, + and −. "), save);
    const stop = this.parsed.stop ? [this.#text("p", this.parsed.stop, "say stop")] : [];
    this.replaceChildren(head, surface, this.said, ...stop, controls, footer);
  }

  #save() {
    const drawing = this.querySelector(".surface").firstElementChild;
    const link = document.createElement("a");
    const save = (address, kind) => {
      link.href = address;
      link.download = `${this.name}-${this.step}.${kind}`;
      link.click();
    };
    if (drawing instanceof HTMLCanvasElement) return save(drawing.toDataURL("image/png"), "png");
    const copy = drawing.cloneNode(true);
    copy.setAttribute("xmlns", SVG);
    const shapes = copy.querySelectorAll("*");
    drawing.querySelectorAll("*").forEach((shape, at) => {
      const style = getComputedStyle(shape);
      for (const name of DRAWN) shapes[at].setAttribute(name, style.getPropertyValue(name));
    });
    const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    save(address, "svg");
    URL.revokeObjectURL(address);
  }

  #text(tag, words, name = "") {
    const element = document.createElement(tag);
    element.textContent = words;
    element.className = name;
    return element;
  }
}

async function text(address) {
  const reply = await fetch(address);
  if (!reply.ok) throw new Error((await reply.json().catch(() => ({}))).message ?? `the server says ${reply.status}`);
  return reply.text();
}

customElements.define("jurado-board", JuradoBoard);

// Links of cases put their board beside the table, in place of opening the input.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-board]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const board = document.querySelector("jurado-board");
  if (!board) return;
  event.preventDefault();
  document.querySelectorAll("tr.sel").forEach((row) => row.classList.remove("sel"));
  link.closest("tr")?.classList.add("sel");
  board.hidden = false;
  board.show(link.dataset);
  board.focus({ preventScroll: false });
  history.replaceState(null, "", `#case/${encodeURIComponent(link.dataset.name)}`);
});

/** Show the case that the address names. */
function follow() {
  const asked = decodeURIComponent(location.hash).match(/^#case\/(.+)$/);
  if (!asked) return;
  const links = [...document.querySelectorAll("a[data-board]")];
  links.find((link) => link.dataset.name === asked[1])?.click();
}

addEventListener("hashchange", follow);
follow();
