"use strict";
// The panel to send answers. The form works without this file; with it, files are looked at before they are sent (which case
// each is for, what is missing, what looks wrong), a folder can be dropped, and the report comes in place. The server decides:
// what looks wrong here can be sent all the same.
(() => {
  const form = document.querySelector("form[data-cases]");
  if (!form) return;
  const { cases, patterns, label, limit, kept: keptText } = JSON.parse(form.dataset.cases);
  const drop = form.querySelector(".drop");
  const input = form.querySelector("input[type=file]");
  const button = form.querySelector("button");
  const MOST_SHOWN = 200;
  const LOOK_AT = 4096; // bytes of an answer of which the beginning is looked at
  const KINDS = [
    ["Rar!", "rar"],
    ["7z\xbc\xaf", "7z"],
    ["\x1f\x8b", "gzip"],
    ["BZh", "bzip2"],
    ["\xfd7zXZ", "xz"],
  ];
  const names = new Map(); // file name -> its cases: one, or all where the pattern has no place for a case
  for (const pattern of patterns) {
    if (!pattern.includes("{case}")) names.set(pattern, cases);
    else
      for (const each of cases) {
        const name = pattern.replaceAll("{case}", each.name);
        if (!names.has(name)) names.set(name, [each]);
      }
  }
  let chosen = []; // {file, path}
  let key = "";
  let followed = ""; // the report that is shown below the form
  let looking = 0;

  const element = (tag, options = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), options);
    made.append(...children);
    return made;
  };
  const mark = (name) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("aria-hidden", "true");
    svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "use")).setAttribute("href", `#${name}`);
    return svg;
  };
  const list = element("ul", { className: "pre" });
  const summary = element("p", { className: "pre-sum" });
  const bar = element("progress", { max: 1, value: 0, hidden: true });
  bar.setAttribute("aria-label", _("Upload progress"));
  const said = element("div", { className: "pre-said" });
  said.setAttribute("role", "status");
  const result = element("div", { className: "pre-result" });

  const sizeText = (bytes) =>
    bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${decimal(bytes / 1000)} KB` : `${decimal(bytes / 1e6)} MB`;
  const decimal = (number) =>
    number.toLocaleString(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const baseName = (path) => path.split("/").pop();
  const isLitter = (path) => path.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");
  const some = (all) =>
    all.length > 5
      ? _("%(names)s and %(count)s more", { names: all.slice(0, 4).join(", "), count: all.length - 4 })
      : all.join(", ");

  /** The beginning of an entry's text; empty where this browser cannot unpack it. */
  async function beginningOf(file, entry) {
    const { packedOf } = await import("./board/zips.js");
    const packed = await packedOf(file, entry, LOOK_AT);
    if (entry.method === 0) return packed.text();
    if (entry.method !== 8 || typeof DecompressionStream === "undefined") return null;
    const reader = packed.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const { value } = await reader.read().catch(() => ({ value: undefined })); // cut after the bytes looked at
    reader.cancel().catch(() => {});
    return value ? new TextDecoder().decode(value.slice(0, LOOK_AT)) : null;
  }

  /** All that was chosen as {path, size, look}: the entries of zips in their place, and what is no answer at all. */
  async function contents() {
    const all = [];
    for (const { file, path } of chosen) {
      const magic = String.fromCharCode(...new Uint8Array(await file.slice(0, 6).arrayBuffer()));
      const kind = KINDS.find(([start]) => magic.startsWith(start))?.[1];
      if (kind) {
        all.push({ path, size: file.size, fault: _("a %(kind)s archive: expected a zip or plain files", { kind }) });
      } else if (magic.startsWith("PK\x03\x04") || magic.startsWith("PK\x05\x06")) {
        const { entriesOf } = await import("./board/zips.js");
        const entries = await entriesOf(file).catch(
          (error) => all.push({ path, size: file.size, fault: error.message }) && [],
        );
        if (entries === null)
          all.push({ path, size: file.size, note: _("too large to check here; the server will check it") });
        for (const entry of entries ?? []) all.push({ ...entry, look: () => beginningOf(file, entry) });
      } else {
        all.push({ path, size: file.size, file, look: () => file.slice(0, LOOK_AT).text() });
      }
    }
    return all;
  }

  /** The name nearest to one that no case has, or nothing where none is near. */
  function nearest(name) {
    let best = "";
    let least = Math.max(2, name.length / 3);
    if (names.size > 2000) return "";
    for (const each of names.keys()) {
      const far = distance(name, each, least);
      if (far < least) [best, least] = [each, far];
    }
    return best;
  }

  function distance(one, other, most) {
    if (Math.abs(one.length - other.length) > most) return Infinity;
    let row = [...Array(other.length + 1).keys()];
    for (let i = 1; i <= one.length; i++) {
      const next = [i];
      for (let j = 1; j <= other.length; j++) {
        next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
      }
      row = next;
    }
    return row[other.length];
  }

  /** What each file is for, and what of it looks wrong. */
  async function sorted() {
    const all = await contents();
    const taken = new Map();
    const [wrong, left, notes, nested] = [[], [], [], []];
    const alone = all.length === 1 && all[0].file && (cases.length === 1 || names.size === 1) ? cases : null;
    for (const each of all) {
      const name = baseName(each.path);
      const known = names.get(name) ?? alone;
      if (each.fault) wrong.push([each.path, each.fault, each.size]);
      else if (each.note) notes.push([each.path, each.note, each.size]);
      else if (isLitter(each.path)) left.push(each.path);
      else if (!known) {
        const near = nearest(name);
        const why = near
          ? _("no such case. Did you mean %(near)s? It will be ignored.", { near })
          : _("no such case. It will be ignored.");
        wrong.push([each.path, why, each.size]);
      } else if (known.some((one) => taken.has(one.name))) {
        const [first] = known.filter((one) => taken.has(one.name));
        const values = { case: first.name, other: taken.get(first.name).path };
        wrong.push([
          each.path,
          _("a second file for %(case)s, in addition to %(other)s: the submission would be refused", values),
          each.size,
        ]);
      } else {
        for (const one of known) taken.set(one.name, each);
        if (each.path !== name) nested.push(each.path);
        const text = each.look && each.size <= limit ? await each.look().catch(() => null) : null;
        if (!each.size) wrong.push([each.path, _("empty. It would be rejected."), 0]);
        else if (each.size > limit)
          wrong.push([
            each.path,
            _("larger than %(size)s. It would be rejected.", { size: sizeText(limit) }),
            each.size,
          ]);
        else if (text?.includes("\0")) wrong.push([each.path, _("not a text file. It would be rejected."), each.size]);
        else if (text !== null && !text.trim())
          wrong.push([each.path, _("it starts with blank characters only. It may be rejected."), each.size]);
      }
    }
    return { all, taken, wrong, left, notes, nested };
  }

  /** A text without marks of direction: those of a file's name would turn round what follows it. */
  const straight = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

  function line(name, title, text, size = "") {
    return element(
      "li",
      {},
      element("span", { className: `v ${name}` }, name === "no" ? "–" : mark(name)),
      element(
        "div",
        {},
        element("span", { className: "mono", textContent: straight(title) }),
        element("small", { textContent: straight(text) }),
      ),
      element("span", { className: "mute", textContent: size }),
    );
  }

  /** Look at what was chosen, and say what would become of it. */
  async function look() {
    const mine = ++looking;
    const { all, taken, wrong, left, notes, nested } = await sorted();
    if (mine !== looking) return; // others have been chosen meanwhile
    const bad = new Set(wrong.map(([path]) => path));
    const good = [...taken].filter(([, each]) => !bad.has(each.path)).map(([name]) => name);
    const missing = cases.filter((each) => !taken.has(each.name));
    const [kept, open] = [missing.filter((each) => each.has), missing.filter((each) => !each.has)];
    const lines = wrong.slice(0, MOST_SHOWN).map(([path, why, size]) => line("wa", path, why, sizeText(size)));
    if (wrong.length > MOST_SHOWN)
      lines.push(line("wa", _("%(count)s more", { count: wrong.length - MOST_SHOWN }), _("which look wrong, too")));
    if (good.length) lines.push(line("ac", some(good), _("names and sizes look right"), files(good.length)));
    for (const [path, why, size] of notes) lines.push(line("wait", path, why, sizeText(size)));
    if (nested.length) lines.push(line("pc", some(nested), _("accepted; folder names are ignored")));
    if (left.length) lines.push(line("no", some(left), _("not an answer, ignored"), files(left.length)));
    if (kept.length) lines.push(line("carry", some(kept.map((each) => each.name)), keptText, _("no file")));
    if (open.length) lines.push(line("no", some(open.map((each) => each.name)), _("no answer yet"), _("no file")));
    list.replaceChildren(...lines);
    const counts = {
      cases: ngettext("%(taken)s of %(num)s case get a file", "%(taken)s of %(num)s cases get a file", cases.length, {
        taken: taken.size,
      }),
      wrong: ngettext("%(num)s file looks wrong", "%(num)s files look wrong", wrong.length),
    };
    summary.replaceChildren(
      element("b", { textContent: `${_("Checked in your browser. Nothing is submitted yet.")} ` }),
      wrong.length ? _("%(cases)s; %(wrong)s.", counts) : _("%(cases)s.", counts),
    );
    const answers = new Set([...taken.values()].map((each) => each.path)); // a file may answer several cases
    const sent = notes.length || !answers.size ? chosen.length : answers.size;
    button.textContent = ngettext("Submit %(num)s file to %(problem)s", "Submit %(num)s files to %(problem)s", sent, {
      problem: label,
    });
    button.disabled = !all.length;
  }

  const files = (number) => ngettext("%(num)s file", "%(num)s files", number);

  function choose(picked) {
    chosen = picked;
    key = "";
    said.replaceChildren();
    result.replaceChildren();
    if (picked.length) look();
  }

  /** All files below an entry of a drop, with their paths. */
  async function filesOf(entry, path = "") {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      return [{ file, path: path + entry.name }];
    }
    const reader = entry.createReader();
    const all = [];
    for (;;) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return all;
      for (const each of some) all.push(...(await filesOf(each, `${path}${entry.name}/`)));
    }
  }

  /** The files to send: of loose ones those that a case takes, unless none does; zips as they are. */
  async function toSend() {
    const { taken } = await sorted();
    const wanted = new Set([...taken.values()].map((each) => each.file).filter(Boolean));
    const loose = chosen.filter(({ file }) => wanted.has(file) || /\.zip$/i.test(file.name));
    return loose.length ? loose : chosen;
  }

  function newKey() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function upload(body) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", form.dataset.api);
      request.setRequestHeader("Idempotency-Key", key);
      request.upload.addEventListener("progress", (event) => {
        if (event.lengthComputable) bar.value = event.loaded / event.total;
      });
      request.addEventListener("load", () => resolve(request));
      request.addEventListener("error", () => reject(new Error(_("the server cannot be reached"))));
      request.send(body);
    });
  }

  async function send(event) {
    if (!chosen.length) return; // the form says that a file is required
    event.preventDefault();
    if (button.disabled) return;
    key ||= newKey(); // the same for each attempt to send the same files: they are stored once
    button.disabled = true;
    bar.value = 0;
    bar.hidden = false;
    said.textContent = _("Uploading …");
    const body = new FormData();
    body.append("problem_id", form.elements.problem_id.value);
    if (form.elements.comment.value) body.append("comment", form.elements.comment.value);
    for (const { file, path } of await toSend()) body.append("files", file, path.split("/").pop());
    try {
      const reply = await upload(body);
      if (reply.status === 201) stored(JSON.parse(reply.responseText));
      else throw new (reply.status < 500 ? Refused : Error)(reasonOf(reply));
    } catch (error) {
      const values = { reason: error.message };
      said.textContent =
        error instanceof Refused
          ? _("Not stored: %(reason)s.", values)
          : _("%(reason)s. Your files are still here.", values);
      button.textContent = error instanceof Refused ? button.textContent : _("Submit again (safe to repeat)");
      if (error instanceof Refused) key = "";
    } finally {
      button.disabled = isPaused();
      bar.hidden = true;
    }
  }

  /** A reply that nothing was stored. After one of 500 or more something may be: the same key must be sent again. */
  class Refused extends Error {}

  /** Why nothing was taken, as the server says it; a proxy before it replies with pages of its own. */
  function reasonOf(reply) {
    try {
      return JSON.parse(reply.responseText).message;
    } catch {
      return _("the server says %(status)s", { status: reply.status });
    }
  }

  function stored(submission) {
    const address = form.dataset.report + submission.id;
    said.replaceChildren(
      element("b", {}, `${_("Stored as")} `, element("a", { href: address, textContent: submission.id })),
      ` · ${submission.contest_time.split(".")[0]} `,
    );
    chosen = [];
    key = "";
    form.reset();
    list.replaceChildren();
    summary.replaceChildren();
    button.textContent = _("Submit to %(problem)s", { problem: label });
    follow(address);
    renewLine("quota");
  }

  /** Show the report in place until the submission is judged, or another one was sent. */
  function follow(address) {
    followed = address;
    const step = async () => {
      if (followed !== address) return false;
      const reply = await fetch(address, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const report = page.getElementById("report");
      if (!report) throw new Error(_("the server says %(status)s", { status: reply.status }));
      if (followed !== address) return false;
      const done = !report.hasAttribute("data-wait");
      const verdict = report.querySelector(".head .v");
      const sum = report.querySelector("dl.sum");
      const link = element("a", { href: address, textContent: _("Full report") });
      const note = report.querySelector(".standing");
      result.replaceChildren(
        ...[verdict, done ? note : null, done ? sum : null, done ? element("p", {}, link) : null].filter(Boolean),
      );
      return !done;
    };
    poll(step, { every: 400, growth: 1.5, offline: 15000, immediate: true });
  }

  const folder = element("input", { type: "file", multiple: true, hidden: true, webkitdirectory: true });
  const pick = element("button", { type: "button", className: "btn", textContent: _("Choose a folder") });
  pick.addEventListener("click", () => folder.click());
  folder.addEventListener("change", () =>
    choose([...folder.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }))),
  );
  input.addEventListener("change", () => choose([...input.files].map((file) => ({ file, path: file.name }))));
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("over-it");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over-it"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over-it");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = [...event.dataTransfer.files].map((file) => ({ file, path: file.name }));
    choose(entries.length ? (await Promise.all(entries.map((entry) => filesOf(entry)))).flat() : files);
  });
  drop.append(
    element("p", { className: "mute", textContent: _("You can also drop files or a folder here.") }),
    pick,
    folder,
  );
  drop.after(summary, list);
  form.querySelector(".send").append(bar, said, result);
  form.addEventListener("submit", send);
})();
