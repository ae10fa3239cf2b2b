"use strict";
// The scoreboard in place. It works without this file; with it, rows that change are patched, those that move wait until
// nobody points at the table, points over time are drawn, and the board of an earlier minute comes without a new page.
(() => {
  const board = document.getElementById("board");
  if (!board) return;
  const PAUSE = 4000; // ms between two looks at the version, and as many more as chance says: a thousand boards are open
  const SPREAD = 2000;
  const OFFLINE = 15000;
  const HISTORY_EVERY = 60000;
  const MOST_STEPS = 50;
  const WIDTH = 76; // units of a drawing of points over time
  const HEIGHT = 22;
  const WIDE = "(min-width: 74.01rem)"; // below it the column is left out
  const SVG = "http://www.w3.org/2000/svg";
  let version = null;
  let waiting = null; // a newer page that would move rows under the reader's hand
  let held = false;
  let drawnAt = -Infinity;
  let lines = new Map(); // the drawing of each team, by its id

  const table = () => board.querySelector("table.board");
  const part = (name, page = document) => page.querySelector(`[data-part="${name}"]`);

  /** Take over what a newer cell says, in the same element: its colour changes softly. */
  function patchCell(old, fresh) {
    if (old.className !== fresh.className) old.className = fresh.className;
    if (old.innerHTML !== fresh.innerHTML) old.replaceChildren(...fresh.childNodes);
  }

  /** Take over what a newer row says. */
  function patchRow(old, fresh) {
    if (old.outerHTML === fresh.outerHTML) return;
    old.className = fresh.className;
    [...fresh.cells].forEach((cell, at) => old.cells[at].className === "sp" || patchCell(old.cells[at], cell));
  }

  const order = (body) => [...body.rows].map((row) => row.dataset.team).join("\n");

  /** Bring the body of the table to what a newer one says; rows that stay keep their element, focus and selection. */
  function patchBody(old, fresh) {
    const known = new Map([...old.rows].map((row) => [row.dataset.team, row]));
    let after = null;
    for (const row of [...fresh.rows]) {
      const mine = known.get(row.dataset.team);
      known.delete(row.dataset.team);
      if (mine) patchRow(mine, row);
      const next = mine ?? row;
      const place = after ? after.nextElementSibling : old.firstElementChild;
      if (place !== next) old.insertBefore(next, place);
      after = next;
    }
    for (const row of known.values()) row.remove();
  }

  /** The rows of a newer page that are not as they are shown. */
  function changes(page) {
    const shown = new Map([...table().tBodies[0].rows].map((row) => [row.dataset.team, row.textContent]));
    return [...page.querySelectorAll("#board tbody tr")].filter((row) => shown.get(row.dataset.team) !== row.textContent).length;
  }

  /** Show a newer page: all at once where the table itself differs, else row by row. */
  function show(page) {
    waiting = null;
    const [old, fresh] = [table(), page.querySelector("#board table.board")];
    for (const name of ["notice", "status", "standing", "pager"]) {
      const [mine, newer] = [part(name), part(name, page)];
      if (mine && newer && mine.outerHTML !== newer.outerHTML) mine.replaceWith(newer);
    }
    if (!old || !fresh || old.tHead.outerHTML !== fresh.tHead.outerHTML) {
      part("table").replaceWith(part("table", page));
    } else {
      patchBody(old.tBodies[0], fresh.tBodies[0]);
    }
    putLines();
    say();
  }

  /** Whether rows may move: never below the pointer, the focus or a hold. */
  function mayMove() {
    const body = table()?.tBodies[0];
    return !held && !(body && (body.matches(":hover") || body.contains(document.activeElement)));
  }

  /** Show a newer page, now or when the reader lets rows move. */
  function take(page) {
    const [old, fresh] = [table(), page.querySelector("#board table.board")];
    const same = old && fresh && order(old.tBodies[0]) === order(fresh.tBodies[0]);
    if (held || (old && fresh && !same && !mayMove())) {
      waiting = page;
      say();
    } else {
      show(page);
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

  async function fetchPage(address) {
    const reply = await fetch(address, { headers: { Accept: "text/html" } });
    if (!reply.ok) throw new Error(_("the server says %(status)s", { status: reply.status }));
    return new DOMParser().parseFromString(await reply.text(), "text/html");
  }

  /** Ask for the version, which costs a reply without a body, and for the page where it is another one. */
  async function look() {
    let wait = PAUSE;
    if (document.hidden) return later(wait);
    try {
      const headers = version ? { "If-None-Match": version } : {};
      const reply = await fetch(board.dataset.live, { method: "HEAD", headers, cache: "no-store" });
      if (reply.status === 200) {
        const tag = reply.headers.get("ETag");
        if (tag !== version) take(await fetchPage(location.href));
        version = tag;
      }
      say(` · ${reply.ok || reply.status === 304 ? _("connected") : _("the server says %(status)s", { status: reply.status })}`);
      drawLines();
    } catch {
      wait = OFFLINE;
      say(` · ${_("offline, trying")}`);
    }
    return later(wait);
  }

  function later(wait) {
    setTimeout(look, wait + Math.random() * SPREAD);
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

  /** Let the slider of minutes show the board as it was then, in place; the address follows. */
  function travel() {
    const form = part("past");
    const slider = form?.querySelector("input[type=range]");
    if (!slider) return;
    const number = form.querySelector("input[type=number]");
    slider.hidden = false;
    let asked = 0;
    const go = async (minute) => {
      const mine = ++asked;
      const address = new URL(location.href);
      address.searchParams.set("at", minute);
      try {
        const page = await fetchPage(address);
        if (mine !== asked) return; // the slider has gone on
        history.replaceState(null, "", address);
        board.dataset.past = minute;
        show(page);
      } catch (error) {
        say(` · ${error.message}`);
      }
    };
    slider.addEventListener("input", () => {
      number.value = slider.value;
      go(slider.value);
    });
    number.addEventListener("input", () => (slider.value = number.value));
  }

  for (const button of [now, hold]) {
    button.type = "button";
    button.className = "btn";
  }
  now.hidden = true;
  now.addEventListener("click", () => waiting && show(waiting));
  hold.textContent = _("Hold");
  hold.setAttribute("aria-pressed", "false");
  hold.addEventListener("click", () => {
    held = !held;
    hold.setAttribute("aria-pressed", String(held));
    if (!held && waiting) show(waiting);
  });
  travel();
  if (board.dataset.live) {
    part("tools")?.append(hold, now);
    board.addEventListener("pointerleave", () => waiting && mayMove() && show(waiting));
    look();
  } else {
    drawLines();
  }
})();
