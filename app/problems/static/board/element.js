// <jurado-board>: answers on the board of their problem, with controls. Several answers play side by side on one clock.
//
// A module in ../boards has parse(input, answer) -> {start, steps, raw, stop?}, frames(parsed) -> {count, seek(step), curve?,
// notable?}, draw(frame, drawn, theme) -> an SVG element or a canvas, which may be the one drawn before, say(frame) -> a sentence,
// and peek(head, input) -> what would be refused by the beginning of a file. It knows no page, no control and no clock.
// It may have judged(parsed, where) -> {at} for what only the server knows to be wrong, and toggles() -> {name: label}: what a
// reader may have shown; seek gets {name: true} beside the step.
import { svg } from "./shapes.js";
import { fetchText, openView } from "./views.js";

const SPEEDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const LONGEST_PLAY = 20; // seconds at the first speed
const LISTED = 50;
const DRAWN = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "font-size",
  "font-weight",
  "font-family",
  "text-anchor",
];

/** An element with a class and children. */
export function make(tag, name = "", ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

/** A button; a text that begins with # names a symbol of the page, since fonts lack signs for players. */
export function button(text, label, act) {
  const element = make("button", label ? "btn sq" : "btn");
  element.type = "button";
  if (text.startsWith("#"))
    element.append(svg("svg", { class: "i", "aria-hidden": "true" }, svg("use", { href: text })));
  else element.textContent = text;
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("click", act);
  return element;
}

export class JuradoBoard extends HTMLElement {
  connectedCallback() {
    if (this.ready) return;
    this.ready = true;
    this.tabIndex = 0;
    this.setAttribute("role", "group");
    this.addEventListener("keydown", (event) => this.#key(event));
    if (this.dataset.board) this.show(this.dataset);
  }

  disconnectedCallback() {
    this.pause();
  }

  /** Fetch an input and one answer or two and show them: {board, input, answer, other, name, labels, step, message, where}. */
  async show({ board, frame, input, answer, other, name, labels, step, message, where }) {
    this.pause();
    this.#wait(name);
    const asked = Symbol("one of several requests");
    this.asked = asked;
    try {
      const titles = labels?.split("\n") ?? [];
      const there = [answer, other]
        .map((address, at) => ({ address, title: titles[at] }))
        .filter(({ address }) => address);
      const [given, ...sent] = await Promise.all([input, ...there.map(({ address }) => address)].map(fetchText));
      const views = await Promise.all(
        sent.map((text) => openView({ board, frame, input: given, answer: text, where })),
      );
      if (this.asked === asked) this.load(views, { name, labels: there.map(({ title }) => title), step, message });
    } catch (error) {
      if (this.asked === asked) this.#fail(error);
    }
  }

  /** Show views that are open; a `step` of undefined begins at what is wrong, else at the start. */
  load(views, { name, labels, step, message }) {
    this.pause();
    for (const view of this.views ?? []) view.close?.();
    this.views = views;
    this.name = name;
    this.#controls(labels ?? []);
    this.#measure(step, message);
    // A board in a frame tells its length once it is in the page.
    for (const view of views)
      view.waiting?.then(
        () => views === this.views && this.#measure(step, message),
        (error) => this.#fail(error),
      );
  }

  /** Show a step of a view that has got more or fewer of them. */
  renew(step) {
    this.pause();
    this.#measure(step);
  }

  #measure(step, message) {
    const { views } = this;
    this.count = Math.max(...views.map((view) => view.count));
    this.speed = SPEEDS.find((speed) => speed >= 8 && this.count / speed <= LONGEST_PLAY) ?? SPEEDS.at(-1);
    this.pace.textContent = `${this.speed} / s`;
    this.range.max = this.count;
    views.forEach((view, at) => {
      // The server's words come first: the board's own are what the same rules say here.
      this.stops[at].textContent = (views.length === 1 && message) || view.stop || "";
      view.hear = (sentence) => {
        this.said[at].textContent = sentence;
      };
    });
    this.seek(Number(step ?? (views.length === 1 ? views[0].first : 0)));
    this.saving.hidden = views.some((view) => !view.drawing);
    this.list.hidden = !views[0].say;
    this.saving.textContent = views[0].drawing instanceof HTMLCanvasElement ? _("Save as PNG") : _("Save as SVG");
  }

  /** Show the boards after so many steps. */
  seek(step) {
    this.step = Math.min(this.count, Math.max(0, step));
    this.views.forEach((view, at) => {
      const sentence = view.seek(this.step);
      if (sentence !== undefined) this.said[at].textContent = sentence;
      this.said[at].setAttribute("aria-live", this.timer ? "off" : "polite");
    });
    this.range.value = this.step;
    this.range.setAttribute("aria-valuetext", _("Step %(step)s of %(count)s", { step: this.step, count: this.count }));
    if (this.list?.open && !this.timer) this.#fillList();
    this.dispatchEvent(new CustomEvent("seek", { detail: this.step }));
  }

  play() {
    if (this.timer) return this.pause();
    if (this.step >= this.count) this.seek(0);
    // More than 60 steps a second are several a picture; with reduced motion whole steps come twice a second.
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const pictures = still ? Math.min(2, this.speed) : Math.min(60, this.speed);
    const steps = Math.max(1, Math.round(this.speed / pictures));
    this.timer = setInterval(() => {
      this.seek(this.step + steps);
      if (this.step >= this.count) this.pause();
    }, 1000 / pictures);
    this.playing.textContent = _("Pause");
  }

  /** Let the board fill the window, or put it back into its place in the page. */
  enlarge(large) {
    this.classList.toggle("large", large);
    this.enlarging.textContent = large ? _("Reduce") : _("Enlarge");
  }

  pause() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
    this.playing.textContent = _("Play");
    this.seek(this.step);
  }

  #wait(name) {
    this.setAttribute("aria-label", _("Board of %(name)s", { name }));
    this.replaceChildren(make("p", "say", _("Loading the board …")));
  }

  #fail(error) {
    this.replaceChildren(make("p", "say stop", _("The board cannot be shown: %(reason)s", { reason: error.message })));
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
    if (
      !this.views ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.target.matches?.("input:not([type=range]), textarea, select")
    )
      return;
    const far = event.shiftKey ? 10 : 1;
    const acts = {
      " ": () => this.play(),
      ArrowRight: () => this.#go(this.step + far),
      ArrowLeft: () => this.#go(this.step - far),
      Home: () => this.#go(0),
      End: () => this.#go(this.count),
      "+": () => this.#faster(1),
      "-": () => this.#faster(-1),
      n: () => this.#goNotable(),
      N: () => this.#goNotable(),
      "?": () => this.help.toggleAttribute("hidden"),
      ...(this.classList.contains("large") && { Escape: () => this.enlarge(false) }),
    };
    const act = acts[event.key];
    if (!act || (event.key === " " && event.target.matches?.("button, summary, a"))) return;
    event.preventDefault();
    act();
  }

  #go(step) {
    this.pause();
    this.seek(step);
  }

  #goNotable() {
    for (let step = this.step + 1; step <= this.count; step++) {
      if (this.views.some((view) => view.isNotable?.(step))) return this.#go(step);
    }
    this.#go(this.count);
  }

  #controls(labels) {
    const many = this.views.length > 1;
    const faces = make("div", many ? "faces" : "");
    this.stops = [];
    this.said = this.views.map((view, at) => {
      const said = make("p", "say");
      const face = make("div", "face");
      if (labels[at]) face.append(make("h4", "", labels[at]));
      this.stops.push(make("p", "say stop"));
      face.append(view.element, said, this.stops.at(-1));
      faces.append(face);
      return said;
    });
    this.setAttribute("aria-label", _("Board of %(name)s", { name: this.name }));
    this.enlarging = button("", "", () => this.enlarge(!this.classList.contains("large")));
    this.replaceChildren(
      make("header", "", make("h3", "", this.name), this.enlarging),
      faces,
      this.#player(),
      this.#footer(),
    );
    this.enlarge(this.classList.contains("large"));
  }

  #player() {
    this.range = make("input", "scrub");
    Object.assign(this.range, { type: "range", min: 0, value: 0 });
    this.range.setAttribute("aria-label", _("Step"));
    this.range.addEventListener("input", () => this.#go(Number(this.range.value)));
    this.playing = button(_("Play"), "", () => this.play());
    this.playing.className = "btn main";
    this.pace = button("", "", () => this.#faster(this.speed === SPEEDS.at(-1) ? -10 : 1));
    this.pace.classList.add("pace");
    this.pace.title = _("Steps per second; click to change");
    const track = make("div", "track", this.range);
    const curve = this.views.length === 1 && curveOf(this.views[0].curve);
    if (curve) track.prepend(curve);
    return make(
      "div",
      "ctl",
      track,
      button("#k0", _("To the start"), () => this.#go(0)),
      button("#k1", _("Previous step"), () => this.#go(this.step - 1)),
      this.playing,
      button("#k2", _("Next step"), () => this.#go(this.step + 1)),
      button("#k3", _("To the end"), () => this.#go(this.count)),
      this.pace,
    );
  }

  #footer() {
    this.help = make(
      "p",
      "mute",
      _(
        "Space plays or pauses. Arrow keys step, with Shift by ten. Home and End go to the start and the end. + and − change the speed. N goes to the next notable step.",
      ),
    );
    this.help.hidden = true;
    const help = make("button", "link", _("Keys"));
    help.type = "button";
    help.addEventListener("click", () => this.help.toggleAttribute("hidden"));
    const save = make("button", "link");
    save.type = "button";
    save.addEventListener("click", () => this.#save());
    this.saving = save;
    this.list = make("details", "steps", make("summary", "", _("List of steps")));
    this.list.addEventListener("toggle", () => this.list.open && this.#fillList());
    return make("footer", "", help, " · ", save, this.help, ...this.#toggles(), this.list);
  }

  /** A box to tick for each thing that a reader may have shown beside the board. */
  #toggles() {
    return Object.entries(this.views[0].toggles ?? {}).map(([name, text]) => {
      const box = make("input");
      box.type = "checkbox";
      box.checked = this.views.every((view) => view.shown[name]);
      box.addEventListener("change", () => {
        for (const view of this.views) view.shown[name] = box.checked;
        this.seek(this.step);
      });
      return make("label", "choice", box, ` ${text}`);
    });
  }

  /** List the steps around the one shown; all of 10,000 would be no list to read. */
  #fillList() {
    const begin = Math.max(0, Math.min(this.step - LISTED / 2, this.count - LISTED));
    const rows = make("ol");
    for (let step = begin; step <= Math.min(this.count, begin + LISTED); step++) {
      const link = button(this.views[0].say(Math.min(step, this.views[0].count)), "", () => this.#go(step));
      link.className = "link";
      if (step === this.step) link.setAttribute("aria-current", "step");
      rows.append(make("li", "", link));
    }
    this.list.querySelector("ol")?.remove();
    this.list.append(rows);
  }

  #save() {
    const link = document.createElement("a");
    this.views.forEach((view, at) => {
      const name = `${this.name}-${this.step}${at ? `-${at + 1}` : ""}`;
      const [address, kind] =
        view.drawing instanceof HTMLCanvasElement
          ? [view.drawing.toDataURL("image/png"), "png"]
          : [svgAddress(view.drawing), "svg"];
      Object.assign(link, { href: address, download: `${name}.${kind}` });
      link.click();
      if (kind === "svg") URL.revokeObjectURL(address);
    });
  }
}

/** A drawing with the colours that the style sheet gives it, as a file. */
function svgAddress(drawing) {
  const copy = drawing.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const shapes = copy.querySelectorAll("*");
  drawing.querySelectorAll("*").forEach((shape, at) => {
    const style = getComputedStyle(shape);
    for (const name of DRAWN) shapes[at].setAttribute(name, style.getPropertyValue(name));
  });
  return URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
}

/** The curve of what has been reached, behind the scrubber: at most 200 points of it. */
function curveOf(values) {
  if (!values || values.length < 3) return undefined;
  const [least, most] = [Math.min(values[0], values.at(-1)), values.reduce((top, value) => Math.max(top, value))];
  if (most === least) return undefined;
  const count = Math.min(200, values.length);
  const points = Array.from({ length: count }, (_, at) => {
    const index = Math.round((at * (values.length - 1)) / (count - 1));
    return `${((at * 100) / (count - 1)).toFixed(2)} ${(20 - ((values[index] - least) * 20) / (most - least)).toFixed(2)}`;
  });
  const shape = svg("svg", {
    class: "score",
    viewBox: "0 -1 100 22",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  shape.append(svg("path", { d: `M${points.join("L")}` }));
  return shape;
}

customElements.define("jurado-board", JuradoBoard);
