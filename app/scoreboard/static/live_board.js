"use strict";
// The scoreboard in place. It works without this file; with it, rows that change are patched, those that move wait until
// nobody points at the table, and points over time are drawn.
(() => {
  const board = document.getElementById("board");
  if (!board) return;
  const HISTORY_EVERY = 60000;
  const MOST_STEPS = 50;
  const WIDTH = 76; // units of a drawing of points over time
  const HEIGHT = 22;
  const WIDE = "(min-width: 74.01rem)"; // below it the column is left out
  const SVG = "http://www.w3.org/2000/svg";
  const MOVED_FOR = 30000; // ms for which a row that has changed its place says so
  const MOST_SOFT = 12; // rows that change their colours softly; of more nobody could follow each
  const OWN_EVERY = 30000; // ms after which what is the reader's own is fetched again, where the board has changed
  const { own } = board.dataset; // the reader's team
  let version = null;
  let ownAt = performance.now();
  const softened = [];
  let waiting = null; // a newer page that would move rows under the reader's hand
  let held = false;
  let drawnAt = -Infinity;
  let lines = new Map(); // the drawing of each team, by its id

  const table = () => board.querySelector("table.board");
  const part = (name, page = document) => page.querySelector(`[data-part="${name}"]`);

  /** Bring a node and all below it to what a newer one says; nodes of the same kinds keep their elements. */
  function patchNode(old, fresh) {
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    if (old.className !== fresh.className) old.setAttribute("class", fresh.getAttribute("class") ?? "");
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const [mine, newer] = [old.childNodes, fresh.childNodes];
    const isAlike = mine.length === newer.length && [...mine].every((node, at) => node.nodeName === newer[at].nodeName);
    if (!isAlike) return old.replaceChildren(...newer);
    for (const [at, node] of mine.entries()) patchNode(node, newer[at]);
  }

  /** Update a row from a newer one, except for what is drawn here: points over time and moves. Return whether it changed. */
  function patchRow(old, fresh) {
    if (old.className !== fresh.className) old.className = fresh.className;
    const cells = [...fresh.cells].map((cell, at) => [old.cells[at], cell]);
    const changed = cells.filter(([mine, newer]) => !newer.matches(".sp, .mv") && !mine.isEqualNode(newer));
    for (const [mine, newer] of changed) patchNode(mine, newer);
    return changed.length > 0;
  }

  const rowsOf = (page) => [...(page.querySelector("table.board")?.tBodies[0].rows ?? [])];
  const order = (rows) => rows.map((row) => row.dataset.team).join("\n");

  /** Update the body of the table from newer rows; rows of the same team keep their elements. */
  function patchBody(body, rows) {
    const known = new Map([...body.rows].map((row) => [row.dataset.team, row]));
    for (const row of softened.splice(0)) row.classList.remove("soft");
    const changed = [];
    let next = body.firstElementChild;
    for (const newer of rows) {
      const row = known.get(newer.dataset.team) ?? newer;
      known.delete(newer.dataset.team);
      if (row !== newer && patchRow(row, newer)) changed.push(row);
      if (row === next) next = next.nextElementSibling;
      else body.insertBefore(row, next);
    }
    for (const row of known.values()) row.remove();
    if (changed.length <= MOST_SOFT) softened.push(...changed);
    for (const row of softened) row.classList.add("soft");
  }

  /** The rows of a newer page that are not as they are shown. */
  function changes(page) {
    const textOf = (row) => [...row.cells].map((cell) => (cell.matches(".mv") ? "" : cell.textContent)).join("\n");
    const texts = new Map(rowsOf(board).map((row) => [row.dataset.team, textOf(row)]));
    return rowsOf(page).filter((row) => texts.get(row.dataset.team) !== textOf(row)).length;
  }

  /** The ranks that the table shows, by team. */
  function ranks() {
    return new Map(rowsOf(board).map((row) => [row.dataset.team, Number(row.querySelector(".rk").textContent)]));
  }

  /** Say for a while how many places each row has gone up or down since these ranks. */
  function sayMoves(before) {
    const after = ranks();
    for (const row of rowsOf(board)) {
      const up = before.get(row.dataset.team) - after.get(row.dataset.team);
      const cell = row.querySelector(".mv");
      if (!up || !cell) continue;
      const words = document.createElement("span");
      words.className = "vh";
      words.textContent =
        up > 0
          ? ngettext("%(num)s place up", "%(num)s places up", up)
          : ngettext("%(num)s place down", "%(num)s places down", -up);
      const arrow = document.createElement("span");
      arrow.ariaHidden = "true";
      arrow.textContent = up > 0 ? `▲${up}` : `▼${-up}`;
      cell.replaceChildren(arrow, words);
      setTimeout(() => arrow.parentNode === cell && cell.replaceChildren(), MOVED_FOR);
    }
  }

  /** Show a newer page: all at once where the table itself differs, else row by row. */
  function show(page) {
    waiting = null;
    const before = ranks();
    const [old, fresh] = [table(), page.querySelector("#board table.board")];
    for (const name of ["notice", "status", "standing", "pager", "strips"]) {
      const [mine, newer] = [part(name), part(name, page)];
      if (mine && newer && !mine.isEqualNode(newer)) mine.replaceWith(newer);
    }
    if (!old || !fresh || old.tHead.textContent !== fresh.tHead.textContent) {
      part("table").replaceWith(part("table", page));
    } else {
      patchBody(old.tBodies[0], rowsOf(page));
    }
    sayMoves(before);
    board.dataset.state = page.getElementById("board").dataset.state;
    putLines();
    say();
  }

  /** Whether rows may move: never below the pointer, the focus or a hold. */
  function mayMove() {
    const body = table()?.tBodies[0];
    return !held && !(body && (body.matches(":hover") || body.contains(document.activeElement)));
  }

  /** Show a newer page, now or when the reader lets rows move. */
  function take(newer) {
    const [mine, others] = [rowsOf(board), rowsOf(newer)];
    const isMoved = mine.length && others.length && order(mine) !== order(others);
    if (held || (isMoved && !mayMove())) {
      waiting = newer;
      say();
    } else {
      show(newer);
    }
  }

  const status = document.createElement("span");
  const now = document.createElement("button");
  const hold = document.createElement("button");

  /** Say whether the board is live, and how much waits. */
  function say(text) {
    if (text !== undefined) status.textContent = text;
    const count = waiting ? changes(waiting) : 0;
    now.hidden = !count;
    now.textContent = ngettext("%(num)s change, show now", "%(num)s changes, show now", count);
    part("status")?.append(status);
  }

  /** Fetch a newer page as a document. */
  async function fetchPage(address) {
    const reply = await fetch(address, { headers: { Accept: "text/html" } });
    if (!reply.ok) throw new Error(_("the server says %(status)s", { status: reply.status }));
    return new DOMParser().parseFromString(await reply.text(), "text/html");
  }

  /** Whether a newer part needs what is the reader's own: the sentence on top, their marks and their row. */
  function needsOwn(part) {
    const [mine, newer] = [board, part].map((each) => rowsOf(each).find((row) => row.dataset.team === own));
    const points = (row) => [...row.querySelectorAll(".tot, .h, .rk")].map((cell) => cell.textContent).join("\n");
    const isLate = own && performance.now() > ownAt + OWN_EVERY;
    const isOther = part.querySelector("#board").dataset.state !== board.dataset.state;
    return isOther || isLate || (mine && newer && points(mine) !== points(newer));
  }

  /** Put the reader's own row into a newer part, which is the same for all readers. */
  function putOwn(part) {
    const mine = rowsOf(board).find((row) => row.dataset.team === own);
    const newer = rowsOf(part).find((row) => row.dataset.team === own);
    part.querySelector('[data-part="strips"]')?.remove();
    if (!mine) return;
    if (newer) newer.replaceWith(mine.cloneNode(true));
    else part.querySelector("table.board")?.tBodies[0].append(mine.cloneNode(true));
  }

  /** Ask for what all readers of this page see alike, and for the page itself where what is the reader's own may differ. */
  async function look() {
    const headers = version ? { "If-None-Match": version } : {};
    const reply = await fetch(board.dataset.live, { headers, cache: "no-store" });
    if (reply.status === 200) {
      version = reply.headers.get("ETag");
      let newer = new DOMParser().parseFromString(await reply.text(), "text/html");
      if (needsOwn(newer)) {
        newer = await fetchPage(location.href);
        ownAt = performance.now();
        version = null; // of several servers the one that sent the page may be behind
      } else if (own) putOwn(newer);
      take(newer);
    }
    const isConnected = reply.ok || reply.status === 304;
    say(` · ${isConnected ? _("connected") : _("the server says %(status)s", { status: reply.status })}`);
    drawLines();
  }

  /** Show that the server cannot be reached; the next look tries again. */
  async function lookOrSay() {
    try {
      await look();
    } catch (error) {
      say(` · ${_("offline, trying")}`);
      throw error;
    }
  }

  /** Fetch the points over time of the teams on the page, once a minute at most. */
  async function drawLines() {
    const body = table()?.tBodies[0];
    if (!body || !board.dataset.history || performance.now() < drawnAt + HISTORY_EVERY) return;
    if (!matchMedia(WIDE).matches) return;
    drawnAt = performance.now();
    const teams = [...body.rows].map((row) => `team_id=${encodeURIComponent(row.dataset.team)}`);
    const reply = await fetch(`${board.dataset.history}?steps=${MOST_STEPS}&${teams.join("&")}`);
    if (!reply.ok) return;
    const past = (await reply.json()).teams;
    lines = new Map(past.map((team) => [team.team_id, path(team.points)]));
    putLines();
  }

  /** Points over time as steps, on the same scale for all rows. */
  function path(points) {
    const [most, whole] = [Number(board.dataset.most) || 1, Number(board.dataset.seconds) || 1];
    let drawing = `M0 ${HEIGHT}`;
    for (const { contest_time: time, score } of points) {
      const x = Math.min(1, secondsOf(time) / whole) * WIDTH;
      drawing += `H${x.toFixed(1)}V${(HEIGHT - (score / most) * (HEIGHT - 2)).toFixed(1)}`;
    }
    return `${drawing}H${(Math.min(1, Number(board.dataset.gone) / whole) * WIDTH).toFixed(1)}`;
  }

  function secondsOf(time) {
    return time.split(":").reduce((sum, each) => sum * 60 + Number(each), 0);
  }

  function putLines() {
    if (!lines.size || !table()) return;
    table().classList.add("lined");
    for (const row of table().tBodies[0].rows) {
      const [cell, drawing] = [row.querySelector(".sp"), lines.get(row.dataset.team)];
      if (!cell || !drawing) continue;
      let shape = cell.querySelector("path");
      if (!shape) {
        const svg = document.createElementNS(SVG, "svg");
        svg.setAttribute("viewBox", `0 -1 ${WIDTH} ${HEIGHT + 2}`);
        svg.setAttribute("aria-hidden", "true");
        shape = svg.appendChild(document.createElementNS(SVG, "path"));
        cell.replaceChildren(svg);
      }
      if (shape.getAttribute("d") !== drawing) shape.setAttribute("d", drawing);
    }
  }

  for (const button of [now, hold]) {
    button.type = "button";
    button.className = "btn";
  }
  now.hidden = true;
  now.addEventListener("click", () => waiting && show(waiting));
  hold.textContent = _("Pause updates");
  hold.setAttribute("aria-pressed", "false");
  hold.addEventListener("click", () => {
    held = !held;
    hold.setAttribute("aria-pressed", String(held));
    if (!held && waiting) show(waiting);
  });
  if (board.dataset.live) {
    part("tools")?.append(hold, now);
    board.addEventListener("pointerleave", () => waiting && mayMove() && show(waiting));
    poll(lookOrSay, { every: 2000, spread: 1000, offline: 15000, immediate: true });
  } else {
    drawLines();
  }
})();
