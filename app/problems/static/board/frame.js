// Runs in the frame of a package's own board: loads its module, draws what the page asks for, and answers in words.
(async () => {
  // The policy of the frame stops requests, but not all browsers apply it to WebRTC, WebTransport, and markup made by XSLT.
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "XSLTProcessor"])
    delete globalThis[name];
  const [page, send] = [parent, parent.postMessage.bind(parent)];
  const surface = document.getElementById("board");
  const code = JSON.parse(document.getElementById("module").textContent);
  let module;
  let parsed;
  let all;
  let drawn;

  function open({ input, answer }) {
    parsed = module.parse(input, answer);
    all = module.frames(parsed);
    drawn = undefined;
    seek(0);
    const { stop } = parsed;
    send({ count: all.count, stop: stop?.text, first: stop?.at ?? all.count, height: surface.scrollHeight }, "*");
  }

  function seek(step) {
    const frame = all.seek(step);
    const drawing = module.draw(frame, drawn);
    if (drawing !== drawn) surface.replaceChildren(drawing);
    drawn = drawing;
    send({ say: module.say(frame) }, "*");
  }

  addEventListener("message", ({ source, data }) => {
    if (source !== page) return;
    try {
      if ("input" in data) open(data);
      else if ("seek" in data) seek(data.seek);
    } catch (error) {
      send({ fault: String(error) }, "*");
    }
  });
  try {
    module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    send({ ready: true }, "*");
  } catch (error) {
    send({ fault: String(error) }, "*");
  }
})();
