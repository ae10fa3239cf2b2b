"use strict";
// Shows the board page by page, its first rows always there. Without this file the page shows all rows below each other.

let begin = 0;

/** The rows that fit below the first ones, at least three. */
function room(table, top) {
  if (table.dataset.rows) return Math.max(3, Number(table.dataset.rows) - top);
  const rows = table.tBodies[0].rows;
  const height = rows[0].getBoundingClientRect().height || 40;
  const above = table.tBodies[0].getBoundingClientRect().top + scrollY;
  return Math.max(3, Math.floor((innerHeight - above - (3 * height) / 2) / height) - top);
}

/** Show the rows of the page that is on, and say which they are. */
function show() {
  const table = document.querySelector(".hall-board");
  if (!table || !table.tBodies[0]) return null;
  const rows = [...table.tBodies[0].rows];
  for (const row of rows) row.hidden = false;
  const top = Math.min(Number(table.dataset.top), rows.length);
  const many = room(table, top);
  const rest = rows.length - top;
  if (rest > 0 && begin >= rest) begin = 0;
  rows.forEach((row, at) => {
    const place = at - top;
    row.hidden = rest > many && place >= 0 && (place < begin || place >= begin + many);
    row.classList.toggle("gap", rest > many && place === begin && begin > 0);
  });
  const which = document.querySelector("[data-which]");
  if (which && rest > many) {
    which.hidden = false;
    which.textContent = _("%(first)s to %(last)s of %(count)s", {
      first: top + begin + 1,
      last: Math.min(rows.length, top + begin + many),
      count: rows.length,
    });
  }
  return { many, rest, every: Number(table.dataset.every) };
}

function turn() {
  const shown = show();
  setTimeout(
    () => {
      if (shown && shown.rest > shown.many) begin += shown.many;
      turn();
    },
    1000 * (shown ? shown.every : 12),
  );
}

/** Follow the board: a look at its version every few seconds costs a reply without a body while it has not changed. */
function followBoard() {
  const address = document.getElementById("board")?.dataset.live;
  if (!address) return;
  let seen = null;
  let again = false; // of several servers one may be a moment behind: the page is fetched once more after a change
  const look = async () => {
    const headers = seen ? { "If-None-Match": seen } : {};
    const reply = await fetch(address, { method: "HEAD", headers, cache: "no-store" });
    const version = reply.headers.get("ETag");
    const isOther = reply.status === 200 && version !== seen;
    if ((isOther || again) && (await refresh("board"))) {
      if (isOther) seen = version;
      again = isOther;
    }
  };
  poll(look, { every: 4000, spread: 2000, offline: 15000, immediate: true });
}

const main = document.getElementById("main");
if (main) new MutationObserver(show).observe(main, { childList: true });
addEventListener("resize", show);
followBoard();
turn();
