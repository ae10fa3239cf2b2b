"use strict";
// Pages of organisers work without this file. With it times in UTC have the reader's zone beside them, and lists follow.

/** Say a time of a field in UTC as the reader's own clock has it. */
function sayLocally(input) {
  let beside = input.nextElementSibling;
  if (!beside || !beside.classList.contains("local")) {
    beside = document.createElement("span");
    beside.className = "local";
    input.after(beside);
  }
  const moment = input.value ? new Date(`${input.value}Z`) : null;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  beside.textContent = moment && !isNaN(moment) ? _("%(time)s in %(zone)s", { time: moment.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }), zone }) : "";
}

for (const input of document.querySelectorAll("input[data-utc]")) {
  sayLocally(input);
  input.addEventListener("input", () => sayLocally(input));
}

for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

/** Fetch a part of the page anew every few seconds, unless the reader is in it or the page is not looked at. */
function follow(part) {
  const every = Number(part.dataset.follow) * 1000;
  const look = async () => {
    const shown = document.getElementById(part.id);
    if (!shown || !shown.dataset.follow) return;
    if (!document.hidden && !shown.contains(document.activeElement)) {
      try {
        const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
        const fresh = reply.ok ? new DOMParser().parseFromString(await reply.text(), "text/html").getElementById(part.id) : null;
        if (fresh && !shown.contains(document.activeElement)) shown.replaceWith(fresh);
      } catch {
        // The server is away for a moment: the next look finds it again.
      }
    }
    setTimeout(look, every);
  };
  setTimeout(look, every);
}

for (const part of document.querySelectorAll("[data-follow][id]")) follow(part);
