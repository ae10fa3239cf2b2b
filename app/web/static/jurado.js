"use strict";
// Pages work without this file. With it the clock runs, and a waiting report follows the server.

function pad(number) {
  return String(number).padStart(2, "0");
}

/** The seconds of a clock as 0:40:55, or 2 d 4:10:00. */
function clockText(seconds) {
  const days = Math.floor(seconds / 86400);
  const rest = seconds % 86400;
  const text = `${Math.floor(rest / 3600)}:${pad(Math.floor(rest / 60) % 60)}:${pad(rest % 60)}`;
  return days ? _("%(days)s d %(time)s", { days, time: text }) : text;
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

/** How moments are written: in English as ISO 8601 has it, as Swedish has it too, else as the language of the page does. */
function written(timeZone) {
  const language = document.documentElement.lang;
  if (language === "en") return ["sv", { dateStyle: "short", timeStyle: "short", timeZone }];
  return [language, { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone }];
}

/** Keep the reader's zone for the pages to come, and show the times of this one in it, unless another one was chosen. */
function useZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || zone === "UTC" || /(^|; )jurado_zone=/.test(document.cookie)) return;
  document.cookie = `jurado_zone=${zone}; max-age=31536000; path=${document.documentElement.dataset.root || "/"}; samesite=lax`;
  for (const time of document.querySelectorAll("time[datetime]")) {
    const parts = new Intl.DateTimeFormat(...written(zone));
    time.textContent = `${parts.format(new Date(time.dateTime))} ${zone}`;
  }
}

/** Scroll a bar of tabs that is wider than the page to the tab of this page. */
function showTab() {
  const tab = document.querySelector(".tabs [aria-current]");
  if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - 16;
}

useZone();
showTab();
runClock();
followReport();
