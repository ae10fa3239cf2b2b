"use strict";
// The form for a prediction contest works without this file. With it the form is filled from the chosen table, whose
// first rows are shown with their split. The service reads the table itself.
(() => {
  const form = document.getElementById("predictions");
  const preview = document.getElementById("preview");
  const PARTS = ["train", "public", "private"];
  const LARGEST = 2e7; // bytes that are read here
  const SHOWN = 6;
  let rows = [];
  let isWhole = true;

  /** The rows of a CSV text, without empty ones. */
  function parse(text) {
    const found = [];
    let row = [];
    for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)) {
      row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
      if (end === ",") continue;
      if (row.length > 1 || row[0]) found.push(row);
      row = [];
    }
    return found;
  }

  const field = (name) => form.elements[name];
  const number = (name) => Math.min(100, Math.max(0, Number.parseInt(field(name).value, 10) || 0));
  const values = (name) => rows.slice(1).map((row) => row[rows[0].indexOf(name)] ?? "");

  /** How many rows are in each part: by the column for it, else as the service draws them. */
  function counts() {
    if (field("split").value) {
      const parts = values(field("split").value).map((part) => part.trim().toLowerCase());
      return PARTS.map((part) => parts.filter((each) => each === part).length);
    }
    const count = rows.length - 1;
    const train = Math.floor((count * number("train")) / 100);
    const open = Math.min(count - train, Math.max(1, Math.floor(((count - train) * number("public")) / 100)));
    return [train, open, count - train - open];
  }

  function cell(kind, text) {
    const made = document.createElement(kind);
    made.textContent = text;
    if (kind === "th") made.scope = "col";
    return made;
  }

  /** Show the first rows and the split. */
  function show() {
    if (rows.length < 2) return preview.replaceChildren();
    const table = document.createElement("table");
    const caption = cell("caption", _("First rows of the table"));
    caption.className = "vh";
    const marked = (name) => (name === field("target").value ? `${name} (${_("to predict")})` : name);
    table.append(caption);
    table
      .createTHead()
      .insertRow()
      .append(...rows[0].map((name) => cell("th", marked(name))));
    const body = table.createTBody();
    for (const row of rows.slice(1, SHOWN)) body.insertRow().append(...row.map((text) => cell("td", text)));
    const box = document.createElement("div");
    box.className = "scroll";
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", _("First rows of the table"));
    box.append(table);
    const [train, open, hidden] = counts();
    const split = _("%(train)s training rows, %(open)s public rows, %(hidden)s private rows", { train, open, hidden });
    preview.replaceChildren(cell("p", isWhole ? split : _("The table is large: only its beginning is shown.")), box);
  }

  /** Fill the fields from the table. */
  async function read() {
    const [file] = field("table").files;
    if (!file) return;
    isWhole = file.size <= LARGEST;
    rows = parse((await file.slice(0, LARGEST).text()).replace(/^\ufeff/, ""));
    const columns = rows[0] ?? [];
    document.getElementById("columns").replaceChildren(...columns.map((name) => new Option(name, name)));
    const named = (wanted) => columns.find((name) => name.toLowerCase() === wanted);
    field("split").value = named("split") ?? "";
    field("id_column").value = named("id") ?? columns[0] ?? "";
    const others = columns.filter((name) => ![field("split").value, field("id_column").value].includes(name));
    field("target").value = named("target") ?? others.at(-1) ?? "";
    const truth = new Set(values(field("target").value));
    const isNumber = truth.size > 20 && [...truth].every((value) => value.trim() && Number.isFinite(Number(value)));
    field("metric").value = isNumber ? "rmse" : "accuracy";
    if (!field("name").value) field("name").value = file.name.replace(/\.[^.]*$/, "").replaceAll(/[_-]+/g, " ");
    show();
  }

  field("table").addEventListener("change", read);
  form.addEventListener("input", show);
  read(); // a browser may keep the file of a page that is opened again
})();
