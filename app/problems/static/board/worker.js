// Parses large answers beside the page, so that it stays awake.
addEventListener("message", async ({ data: { board, input, answer } }) => {
  try {
    const module = await import(`../boards/${board}.js`);
    postMessage({ parsed: module.parse(input, answer) });
  } catch (error) {
    postMessage({ fault: error.message });
  }
});
