// Shapes of drawings and the colours of the page, for modules of boards; nothing here runs when a module is loaded.

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** The outermost element of a drawing, `width` x `height` units. */
export function drawing(width, height, name, ...children) {
  return svg("svg", { class: "bd", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name }, ...children);
}

/** An arrow along a bend: from one point to another, `bend` times its length aside. */
export function arrow(name, [x1, y1], [x2, y2], bend = 0) {
  const [middleX, middleY] = [(x1 + x2) / 2 + (y2 - y1) * bend, (y1 + y2) / 2 - (x2 - x1) * bend];
  const [alongX, alongY] = [x2 - middleX, y2 - middleY];
  const length = Math.hypot(alongX, alongY) || 1;
  const [unitX, unitY] = [alongX / length, alongY / length];
  const size = 3.8;
  const back = [x2 - unitX * size * 1.6, y2 - unitY * size * 1.6];
  const tip = `M${x2} ${y2}L${back[0] - unitY * size} ${back[1] + unitX * size}L${back[0] + unitY * size} ${back[1] - unitX * size}Z`;
  return svg(
    "g",
    { class: name },
    svg("path", { class: "hop", d: `M${x1} ${y1}Q${middleX} ${middleY} ${back[0]} ${back[1]}` }),
    svg("path", { class: "tip", d: tip }),
  );
}

/** A cross of two lines, which marks what is wrong, on a rim of the ground's colour. */
export function cross(x, y, size) {
  const d = `M${x - size} ${y - size}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`;
  return svg("g", {}, svg("path", { class: "x under", d }), svg("path", { class: "x", d }));
}

/** The numbers of rows and columns beside a board of squares. */
export function axes(rows, columns, side, left, top, first) {
  const every = Math.max(1, Math.ceil(12 / side));
  const marks = [];
  for (let at = 0; at < columns; at += every) marks.push(axis(left + (at + 0.5) * side, top - 4, first + at));
  for (let at = 0; at < rows; at += every) marks.push(axis(left / 2, top + (at + 0.5) * side + 3.5, first + at));
  return marks;
}

function axis(x, y, number) {
  const label = svg("text", { class: "ax", x, y });
  label.textContent = number;
  return label;
}

/** A label in a drawing. */
export function label(text, attributes) {
  const element = svg("text", attributes);
  element.textContent = text;
  return element;
}
