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
  beside.textContent =
    moment && !Number.isNaN(moment.getTime())
      ? _("%(time)s in %(zone)s", {
          time: moment.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }),
          zone,
        })
      : "";
}

for (const input of document.querySelectorAll("input[data-utc]")) {
  sayLocally(input);
  input.addEventListener("input", () => sayLocally(input));
}

for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

/** Reload a part of the page, unless the reader is in it, until it has no data-follow any more. */
async function follow(id) {
  const shown = document.getElementById(id);
  if (!shown?.dataset.follow) return false;
  if (!shown.contains(document.activeElement)) await refresh(id);
}

for (const { id, dataset } of document.querySelectorAll("[data-follow][id]"))
  poll(() => follow(id), { every: Number(dataset.follow) * 1000 });
