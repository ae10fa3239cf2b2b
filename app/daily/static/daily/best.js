// The reader's own best of each puzzle, kept in this browser: {score, steps, tries}. Where nothing may be kept, it lasts as long as the page.
const PREFIX = "jurado-daily/";
const here = new Map();

/** The best of a puzzle, such as 2026-11-23/optimiza/small; undefined where there is none, or none that can be read. */
export function best(name) {
  try {
    const kept = JSON.parse(localStorage.getItem(PREFIX + name));
    if (Number.isInteger(kept?.score) && Array.isArray(kept.steps)) return kept;
  } catch {
    return here.get(name);
  }
  return here.get(name);
}

/** Keep a best; gives whether the browser has taken it. */
export function keep(name, value) {
  here.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
