"use strict";
// Pages of organizers work without this file. With it times in a zone have UTC beside them, lists follow,
// and statements have a live preview.

/** The moment of a field's text, which is a time in the zone. */
function momentIn(text, zone) {
  const asUtc = Date.parse(`${text}Z`);
  const parts = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium", timeZone: zone });
  const shown = Date.parse(`${parts.format(asUtc).replace(" ", "T")}Z`);
  return new Date(2 * asUtc - shown);
}

/** Show a time of a field in UTC too; a time in UTC by the reader's own clock. */
function showOtherZone(input) {
  let beside = input.nextElementSibling;
  if (!beside?.classList.contains("local")) {
    beside = document.createElement("span");
    beside.className = "local";
    input.after(beside);
  }
  const { moment: zone } = input.dataset;
  const other = zone === "UTC" ? Intl.DateTimeFormat().resolvedOptions().timeZone : "UTC";
  const isShown = input.value && !Number.isNaN(Date.parse(`${input.value}Z`)) && other !== zone;
  const time = isShown && new Intl.DateTimeFormat(...written(other)).format(momentIn(input.value, zone));
  beside.textContent = time ? `${time} ${other}` : "";
}

for (const input of document.querySelectorAll("input[data-moment]")) {
  showOtherZone(input);
  input.addEventListener("input", () => showOtherZone(input));
}

for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  const input = button.previousElementSibling;
  button.hidden = false;
  button.addEventListener("click", async () => {
    input.select();
    // Pages that came over plain HTTP have no clipboard.
    if (navigator.clipboard) await navigator.clipboard.writeText(input.value);
    else document.execCommand("copy");
    button.textContent = _("Copied");
  });
}

for (const all of document.querySelectorAll("input[data-all]")) {
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of document.getElementById(all.dataset.all).elements)
      if (box.type === "checkbox") box.checked = all.checked;
  });
}

/** Put the preview of a form that the server makes into the page. */
async function preview(form) {
  const fields = new FormData(form);
  fields.set("act", "preview");
  fields.delete("files");
  const reply = await fetch(form.getAttribute("action"), { method: "POST", body: fields });
  const { preview: id } = form.dataset;
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById(id);
  if (fresh) document.getElementById(id).replaceWith(fresh);
}

for (const form of document.querySelectorAll("form[data-preview]")) {
  let timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => preview(form), 400);
  });
}

for (const area of document.querySelectorAll(".drop")) {
  const isOver = (event) => {
    event.preventDefault();
    area.classList.toggle("over-it", event.type === "dragover");
  };
  for (const name of ["dragover", "dragleave", "drop"]) area.addEventListener(name, isOver);
  area.addEventListener("drop", (event) => {
    area.querySelector("input").files = event.dataTransfer.files;
  });
}

/** Reload a part of the page, unless the reader is in it, until it has no data-follow any more. */
async function follow(id) {
  const shown = document.getElementById(id);
  if (!shown?.dataset.follow) return false;
  if (!shown.contains(document.activeElement)) await refresh(id);
}

for (const { id, dataset } of document.querySelectorAll("[data-follow][id]"))
  poll(() => follow(id), { every: Number(dataset.follow) * 1000 });
