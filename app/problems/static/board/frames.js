// A board of a package's own, in a frame that has no rights: it is sent two texts, and sends numbers and sentences back.

const PATIENCE = 10_000; // ms for a module to draw its first step
const LONGEST = 1000; // characters of a sentence
const MOST_STEPS = 1_000_000;

const whole = (value, most) => Math.max(0, Math.min(most, Math.floor(Number(value)) || 0));
const text = (value) => String(value).slice(0, LONGEST);

/** A view as of views.js, whose count is known once `waiting` is done: the frame loads when it is put into the page. */
export class FrameView {
  constructor({ frame: address, input, answer }) {
    this.count = 0;
    this.first = 0;
    this.frame = document.createElement("iframe");
    this.frame.setAttribute("sandbox", "allow-scripts");
    this.frame.title = _("The board of this problem");
    this.frame.src = address;
    this.element = document.createElement("div");
    this.element.className = "surface framed";
    this.element.append(this.frame);
    this.waiting = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(_("the problem's own board does not answer"))), PATIENCE);
      this.listener = ({ source, data }) => {
        if (source === null || source !== this.frame.contentWindow || data === null || typeof data !== "object") return;
        if (data.ready) this.frame.contentWindow.postMessage({ input, answer }, "*");
        if ("fault" in data) reject(new Error(text(data.fault)));
        if ("count" in data) {
          clearTimeout(timer);
          resolve(this.#opened(data));
        }
        if ("say" in data) this.hear?.(text(data.say));
      };
      addEventListener("message", this.listener);
    });
  }

  #opened({ count, stop, first, height }) {
    this.count = whole(count, MOST_STEPS);
    this.stop = stop ? text(stop) : undefined;
    this.first = this.stop ? whole(first, this.count) : 0;
    this.frame.height = Math.max(120, whole(height, 640));
  }

  /** Ask the frame for the board after so many steps; its words come later. */
  seek(step) {
    this.frame.contentWindow?.postMessage({ seek: Math.min(step, this.count) }, "*");
    return undefined;
  }

  close() {
    removeEventListener("message", this.listener);
  }
}
