"use strict";
// Pages work without this file. With it the clock runs, the header and a waiting report follow the server.

/**
 * Repeat a step while the page is visible, until the step returns false. Pauses are in ms: `every`, and at random up to
 * `spread` more, as a thousand pages may be open; each is `growth` times as long as the last, up to `offline`, which is
 * also the pause after a step that failed. Hidden pages take steps if they are `awake`.
 */
function poll(step, { every, spread = 0, growth = 1, offline = every, immediate = false, awake = () => false }) {
  let timer = 0;
  let usual = every;
  const wait = (pause) => {
    timer = setTimeout(look, pause + spread * Math.random());
  };
  const look = async () => {
    timer = 0;
    let pause = usual;
    try {
      if ((!document.hidden || awake()) && (await step()) === false) return;
      usual = Math.min(usual * growth, offline);
    } catch {
      pause = offline; // the server is away for a moment
    }
    wait(pause);
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !timer) return;
    clearTimeout(timer);
    look();
  });
  if (immediate) look();
  else wait(usual);
}

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

/** Show the seconds left every second, by the time since the page came: a wrong clock of the reader's does not matter. */
function countDown(left, show, end) {
  const began = performance.now();
  const timer = setInterval(() => {
    const now = Math.max(0, Math.round(left - (performance.now() - began) / 1000));
    show(now);
    if (now > 0) return;
    clearInterval(timer);
    end();
  }, 1000);
  return timer;
}

/** Let a line such as "next in 16 s" count down, and load it again at the end. */
function runLine(line) {
  if (!line?.dataset.line) return;
  const show = (seconds) => {
    const time = seconds < 120 ? _("%(seconds)s s", { seconds }) : clockText(seconds);
    line.textContent = line.dataset.line.replace("%(time)s", time);
  };
  countDown(Number(line.dataset.left), show, () => line.isConnected && renewLine(line.id));
}

/** Load the line of a limit or a deadline again, if the page has one. */
function renewLine(id) {
  const step = async () => {
    if (document.getElementById(id) && (await refresh(id))) runLine(document.getElementById(id));
    return false;
  };
  poll(step, { every: 15000, immediate: true });
}

let ticking = 0;

/** Let the clock of the header run. */
function runClock() {
  clearInterval(ticking);
  const shown = document.querySelector(".clock[data-left]");
  if (!shown) return;
  const whole = Number(shown.dataset.whole);
  const gone = shown.dataset.phase === "running" && document.querySelector("#lap i:last-child");
  const show = (now) => {
    shown.firstElementChild.textContent = clockText(now);
    if (gone && whole) gone.className = `w${Math.min(100, Math.round(100 * (1 - now / whole)))}`;
  };
  // At the start and the end all pages look at once.
  const end = () => setTimeout(() => lookAtHeader(), 1000 + 2000 * Math.random());
  ticking = countDown(Number(shown.dataset.left), show, end);
}

function isPaused() {
  return document.getElementById("clock")?.dataset.phase === "paused";
}

/** The part of a contest that a page was made for: what it shows changes with it. */
const partOf = (phase) => ({ running: "during", paused: "during" })[phase] ?? phase;

/** Has the reader written or chosen something that a new page would lose? */
function isBeingWritten() {
  const differs = (each) => {
    if (each.type === "hidden" || each.type === "search") return false;
    if (each.type === "file") return each.files.length > 0;
    if (each.type === "checkbox" || each.type === "radio") return each.checked !== each.defaultChecked;
    return each.value !== each.defaultValue;
  };
  return [...document.querySelectorAll("main input, main textarea")].some(differs);
}

/** Fetch the header's clock, badge and notice if they have changed; at the start and the end, the whole page. */
async function lookAtHeader() {
  const clock = document.getElementById("clock");
  const seen = document.getElementById("unread")?.dataset.seen;
  const reply = await fetch(seen ? `${clock.dataset.live}?seen=${seen}` : clock.dataset.live, {
    cache: "no-store",
    headers: { "If-None-Match": `"${clock.dataset.version}"` },
  });
  if (reply.status !== 200) return;
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
  const phase = fresh.getElementById("clock")?.dataset.phase;
  if (!phase) return;
  const isOther = partOf(phase) !== partOf(clock.dataset.phase);
  if (isOther && !isBeingWritten()) return location.reload();
  if (seen === document.getElementById("unread")?.dataset.seen) showToasts(fresh);
  for (const id of ["clock", "lap", "notice", "unread", "unread-too"]) {
    const newer = fresh.getElementById(id);
    if (newer) document.getElementById(id)?.replaceWith(newer);
  }
  if (isOther) offerReload();
  for (const button of document.querySelectorAll("[data-send]")) button.disabled = isPaused();
  runClock();
}

const toasts = document.createElement("div");
toasts.id = "toasts";
toasts.setAttribute("role", "status");
document.body.append(toasts);

/** Show what a newer header brings, except for what is the page itself, until its reader closes it. */
function showToasts(fresh) {
  for (const toast of [...fresh.querySelectorAll(".toast")].reverse()) {
    const link = toast.querySelector("a");
    const isHere = link.pathname === location.pathname;
    if (isHere && !link.hash) continue; // a report, which follows its verdict
    if (isHere) link.addEventListener("click", () => setTimeout(() => location.reload()));
    const close = document.createElement("button");
    close.className = "btn sq";
    close.ariaLabel = _("Close");
    close.textContent = "×";
    close.addEventListener("click", () => toast.remove());
    toast.append(close);
    toasts.append(toast);
    if (document.hidden && isNotifying()) notifyOutside(link);
  }
  while (toasts.childElementCount > 3) toasts.firstElementChild.remove();
}

/** Has the reader asked for notifications of the browser, and allowed them? */
function isNotifying() {
  return globalThis.Notification?.permission === "granted" && localStorage.getItem("jurado_notify") === "on";
}

/** Show a notification of the browser; its tag lets several open pages show it once. */
function notifyOutside(link) {
  const [title, ...rest] = link.innerText.split("\n");
  try {
    const shown = new Notification(title, { body: rest.join(" ").trim(), tag: link.href });
    shown.addEventListener("click", () => {
      window.focus();
      location.href = link.href;
    });
  } catch {
    // browsers of phones have them for service workers alone
  }
}

/** Let the button of the page of notifications ask for permission, and turn them off again. */
function offerNotifications(button) {
  const words = document.getElementById("notify-state");
  const show = () => {
    const isDenied = Notification.permission === "denied";
    button.hidden = isDenied;
    button.textContent = isNotifying() ? _("Turn off browser notifications") : _("Turn on browser notifications");
    words.textContent = isDenied ? _("Your browser blocks notifications of this site.") : "";
  };
  if (!globalThis.Notification || !isSecureContext) {
    words.textContent = _("This browser shows notifications only on a secure connection (HTTPS).");
    return;
  }
  button.addEventListener("click", async () => {
    const turnOn = !isNotifying();
    if (turnOn) await Notification.requestPermission();
    localStorage.setItem("jurado_notify", turnOn ? "on" : "off");
    show();
  });
  show();
}

/**
 * Look at the header as soon as the server says that it has changed. Only a visible page holds a stream, as browsers
 * open six connections to a server at most; and each waits a little, as a thousand pages may be open.
 */
function followHeader(address) {
  let source = null;
  const look = ({ data }) => {
    if (document.getElementById("clock").dataset.version.startsWith(data)) return;
    setTimeout(() => lookAtHeader().catch(() => {}), 500 * Math.random());
  };
  const follow = () => {
    source?.close();
    source = document.hidden ? null : new EventSource(address);
    source?.addEventListener("header", look);
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => event.persisted && follow());
  follow();
}

/** Say that the page is of an earlier part of the contest, as its reader is writing in it. */
function offerReload() {
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = _("The contest has started or ended. Reload this page");
  const line = document.createElement("p");
  line.append(link);
  document.getElementById("notice").replaceChildren(line);
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

/** Reload a report until its submission is judged. */
async function followReport() {
  if (!document.querySelector("#report[data-wait]")) return false;
  await refresh("report");
}

/** How moments are written: in English as ISO 8601 has it, as Swedish has it too, else as the language of the page does. */
function written(timeZone) {
  const language = document.documentElement.lang;
  if (language === "en") return ["sv", { dateStyle: "short", timeStyle: "short", timeZone }];
  return [
    language,
    { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone },
  ];
}

/** Keep the reader's zone for the pages to come, and show the times of this one in it, unless another one was chosen. */
function useZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || zone === "UTC" || /(^|; )jurado_zone=/.test(document.cookie)) return;
  // biome-ignore lint/suspicious/noDocumentCookie: pages without TLS have no CookieStore
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
for (const line of document.querySelectorAll("[data-line]")) runLine(line);
if (document.querySelector("#clock[data-live]")) poll(lookAtHeader, { every: 12000, spread: 6000, awake: isNotifying });
if (document.querySelector("#clock[data-stream]")) followHeader(document.getElementById("clock").dataset.stream);
if (document.getElementById("notify")) offerNotifications(document.getElementById("notify"));

poll(followReport, { every: 1000, growth: 1.5, offline: 15000 });
