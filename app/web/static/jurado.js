"use strict";
// Pages work without this file. With it the clock runs, and the board and a waiting report follow the server.

function pad(number) {
  return String(number).padStart(2, "0");
}

/** The seconds of a clock as 0:40:55, or 2 d 4:10:00. */
function clockText(seconds) {
  const days = Math.floor(seconds / 86400);
  const rest = seconds % 86400;
  const text = `${Math.floor(rest / 3600)}:${pad(Math.floor(rest / 60) % 60)}:${pad(rest % 60)}`;
  return days ? `${days} d ${text}` : text;
}

/** Let the clock run by the time since the page came, so that a wrong clock of the reader's does not matter. */
function runClock() {
  const shown = document.querySelector(".clock[data-left]");
  if (!shown) return;
  const began = performance.now();
  const left = Number(shown.dataset.left);
  const tick = () => {
    const now = Math.max(0, Math.round(left - (performance.now() - began) / 1000));
    shown.firstElementChild.textContent = clockText(now);
    if (now === 0) clearInterval(timer);
  };
  const timer = setInterval(tick, 1000);
}

/** Fetch this page again and put its new text in the place of the old, unless the reader is in it. */
async function refresh(id) {
  const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!reply.ok) return false;
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById(id);
  const old = document.getElementById(id);
  if (!fresh || !old || old.contains(document.activeElement)) return false;
  old.replaceWith(fresh);
  return true;
}

/** Follow the board: ask every few seconds whether its version changed, which costs a reply of 304 while it has not. */
function followBoard() {
  const board = document.getElementById("board");
  if (!board || !board.dataset.live) return;
  let seen = null;
  const look = async () => {
    let wait = 4000;
    try {
      const headers = seen ? { "If-None-Match": seen } : {};
      const reply = await fetch(board.dataset.live, { headers, cache: "no-store" });
      const status = document.querySelector("[data-status]");
      if (reply.status === 200) {
        const version = reply.headers.get("ETag");
        if (version && version !== seen && (seen === null || (await refresh("board")))) seen = version;
      }
      if (status) status.title = reply.ok || reply.status === 304 ? "connected" : "the server refuses: " + reply.status;
    } catch {
      wait = 15000;
      const status = document.querySelector("[data-status]");
      if (status) status.title = "offline, trying again";
    }
    setTimeout(look, wait + Math.random() * 2000);
  };
  look();
}

/** Load a report again until its submission is judged, less and less often. */
function followReport() {
  let wait = 1000;
  const look = async () => {
    if (!document.querySelector("#report[data-wait]")) return;
    try {
      await refresh("report");
    } catch {
      wait = 15000;
    }
    wait = Math.min(15000, wait * 1.5);
    setTimeout(look, wait);
  };
  setTimeout(look, wait);
}

runClock();
followBoard();
followReport();
