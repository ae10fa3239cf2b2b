"use strict";
// Keys for the ceremony, and steps without the page blinking. Without this file its links do the same.

let busy = false;

/** Fetch another step and put it in the place of this one. */
async function go(address) {
  if (busy) return;
  busy = true;
  try {
    const reply = await fetch(address, { headers: { Accept: "text/html" } });
    const fresh = reply.ok ? new DOMParser().parseFromString(await reply.text(), "text/html") : null;
    const scene = fresh?.getElementById("scene");
    const old = document.getElementById("scene");
    if (!scene || !old) {
      location.href = address;
      return;
    }
    old.replaceChildren(...scene.childNodes);
    const forms = [document, fresh].map((each) => each.querySelector("#pub")?.parentElement);
    if (forms[0] && forms[1]) forms[0].replaceWith(forms[1]);
    history.replaceState(null, "", address);
    centre();
  } catch {
    // The server is away for a moment: the key is pressed again.
  } finally {
    busy = false;
  }
}

function centre() {
  const row = document.querySelector(".hall-board .here");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (row) row.scrollIntoView({ block: "center", behavior: still ? "auto" : "smooth" });
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, button")) return;
  const scene = document.getElementById("scene");
  const key = {
    " ": "data-next",
    ArrowRight: "data-next",
    PageDown: "data-next",
    Backspace: "data-back",
    ArrowLeft: "data-back",
    PageUp: "data-back",
  }[event.key];
  const link = key && document.querySelector(`[${key}]`);
  if (key) event.preventDefault();
  if (link) go(link.href);
  if ((event.key === "f" || event.key === "F") && scene && scene.requestFullscreen) {
    if (document.fullscreenElement) document.exitFullscreen();
    else scene.requestFullscreen();
  }
});

addEventListener("click", (event) => {
  const link = event.target.closest(".hall-steps a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.href);
});

centre();
