// The playground: inputs and answers from the reader's disk, matched by name. Nothing is sent anywhere.
import { make } from "./element.js";
import { openView, textOf } from "./views.js";
import { entriesOf, isZip, unpacked } from "./zips.js";

const MOST_FILES = 1000;
const MOST_FAULTS = 3;
const LARGEST = 8 * 2 ** 20; // bytes of a file: no problem takes more
const place = document.getElementById("playground");
const board = place.querySelector("jurado-board");
const slug = place.dataset.board;
const [list, status] = [document.getElementById("answers"), document.getElementById("status")];
const inputs = new Map(); // texts by name
let answers = []; // {name, text, row, view}
let shown = -1;

const stem = (name) => name.replace(/^.*\//, "").replace(/\.[^.]*$/, "");
const isInput = (name) => /\.in$/i.test(name);
const isLitter = (path) => path.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");

/** The input that an answer is for: the one of its name, or the only one there is. */
function inputOf(answer) {
  return inputs.get(stem(answer.name)) ?? (inputs.size === 1 ? [...inputs.values()][0] : undefined);
}

async function take(files) {
  const all = [];
  const faults = [];
  for (const [name, file] of files) {
    try {
      all.push(...(await readable(name, file)));
    } catch (error) {
      faults.push(` ${name}: ${error.message}.`);
    }
  }
  if (all.length > MOST_FILES)
    return tell(_("Too many files: %(count)s. At most %(most)s at once.", { count: all.length, most: MOST_FILES }));
  let unused = 0;
  for (const { path, size, read } of all) {
    if (size > LARGEST || stem(path) === "") {
      unused++;
      continue;
    }
    try {
      const text = textOf(await read());
      if (isInput(path)) inputs.set(stem(path), text);
      else keep(path.replace(/^.*\//, ""), text);
    } catch (error) {
      faults.push(` ${error.message}.`);
    }
  }
  const left = ngettext(
    "%(num)s file was ignored: larger than %(most)s MiB, or without a name.",
    "%(num)s files were ignored: larger than %(most)s MiB, or without a name.",
    unused,
    { most: LARGEST / 2 ** 20 },
  );
  await refresh((unused ? ` ${left}` : "") + faults.slice(0, MOST_FAULTS).join(""));
}

/** What a file has to be read, {path, size, read}: itself, or the files in it where it is a zip. */
async function readable(path, file) {
  if (!(await isZip(file)))
    return [{ path, size: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) }];
  const entries = await entriesOf(file);
  if (!entries) throw new Error(_("this zip is too large to be read here"));
  const files = entries.filter((entry) => !isLitter(entry.path));
  return files.map((entry) => ({ ...entry, read: () => unpacked(file, entry, LARGEST) }));
}

function keep(name, text) {
  answers = answers.filter((each) => each.name !== name);
  answers.push({ name, text });
  answers.sort((one, two) => (one.name < two.name ? -1 : 1));
}

/** Play every answer once, list what became of it, and show the first one that is wrong, or the first. */
async function refresh(more = "") {
  tell(_("Reading …"));
  list.replaceChildren();
  let missing = 0;
  for (const answer of answers) {
    const input = inputOf(answer);
    if (input === undefined) missing++;
    try {
      answer.view = input === undefined ? undefined : await openView({ board: slug, input, answer: answer.text });
      answer.fault = undefined;
    } catch {
      [answer.view, answer.fault] = [undefined, _("the input cannot be read")];
    }
    answer.row = rowOf(answer);
    list.append(answer.row);
  }
  const lacking = missing
    ? ` ${ngettext("%(num)s of them has no matching input.", "%(num)s of them have no matching input.", missing)}`
    : "";
  const read = [
    ngettext("%(num)s input", "%(num)s inputs", inputs.size),
    ngettext("%(num)s answer", "%(num)s answers", answers.length),
  ];
  tell(`${read.join(", ")}.${lacking}${more}`);
  const wrong = answers.findIndex((answer) => answer.view?.stop);
  open(wrong >= 0 ? wrong : answers.findIndex((answer) => answer.view));
}

function rowOf(answer) {
  const row = make("tr");
  const name = make("th");
  name.scope = "row";
  const link = make("button", "link mono", answer.name);
  link.type = "button";
  link.addEventListener("click", () => open(answers.indexOf(answer)));
  name.append(answer.view ? link : make("span", "mono", answer.name));
  const { view } = answer;
  if (view?.stop) name.append(make("p", "say stop", view.stop));
  const raw = !view ? (answer.fault ?? _("no input")) : view.stop ? _("rejected") : (view.raw ?? "–");
  row.append(name, make("td", "r", view ? String(view.steps) : "–"), make("td", "r", String(raw)));
  return row;
}

function open(at) {
  const answer = answers[at];
  if (!answer?.view) return;
  shown = at;
  answers.forEach((each, index) => {
    each.row.classList.toggle("sel", index === at);
    const link = each.row.querySelector("button");
    if (index === at) link?.setAttribute("aria-current", "true");
    else link?.removeAttribute("aria-current");
  });
  board.hidden = false;
  board.pause();
  board.load([answer.view], { name: answer.name });
}

/** Go on to the next answer that can be shown, or back. */
function go(by) {
  for (let at = shown + by; at >= 0 && at < answers.length; at += by) if (answers[at].view) return open(at);
}

function tell(text) {
  status.textContent = text;
}

/** All files of what was dropped, folders with all that is in them. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => [file.name, file]);
  const files = [];
  const walk = async (entry) => {
    if (files.length > MOST_FILES) return;
    if (entry.isFile) return files.push([entry.name, await new Promise((done, fail) => entry.file(done, fail))]);
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (!some.length) return;
      for (const each of some) await walk(each);
    }
  };
  for (const entry of entries) await walk(entry);
  return files;
}

const zone = place.querySelector(".drop");
for (const kind of ["dragover", "dragenter"]) {
  place.addEventListener(kind, (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
}
for (const kind of ["dragleave", "drop"]) place.addEventListener(kind, () => zone.classList.remove("over"));
place.addEventListener("drop", async (event) => {
  event.preventDefault();
  take(await dropped(event.dataTransfer));
});
document
  .getElementById("chosen")
  .addEventListener("change", ({ target }) => take([...target.files].map((file) => [file.name, file])));
document.getElementById("before").addEventListener("click", () => go(-1));
document.getElementById("after").addEventListener("click", () => go(1));
document.getElementById("paste").addEventListener("click", () => {
  const bytes = (id) => textOf(new TextEncoder().encode(document.getElementById(id).value));
  inputs.set("pasted", bytes("input"));
  keep("pasted.out", bytes("answer"));
  refresh().then(() => open(answers.findIndex((answer) => answer.name === "pasted.out")));
});
document.getElementById("example").addEventListener("click", async () => {
  const { EXAMPLE } = await import(`../boards/${slug}.js`);
  document.getElementById("input").value = EXAMPLE.input;
  document.getElementById("answer").value = EXAMPLE.answer;
  inputs.set("example", EXAMPLE.input);
  keep("example.out", EXAMPLE.answer);
  await refresh();
  open(answers.findIndex((answer) => answer.name === "example.out"));
});
