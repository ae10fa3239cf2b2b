// Canonical ASCII decimals in answer files, read and refused as checkers/numbers.py does. Texts have one character a byte.

const LARGEST = 9223372036854775807n;
const LONGEST_QUOTE = 40;
const ESCAPES = { "\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\" };

/** The sentence of a rejection. */
export const rejection = (where, expected, found) => `${where}: expected ${expected}, found ${found}`;

/** A cell as messages name it. */
export const pair = (row, column) => `(${row}, ${column})`;

/** A piece of a file in quotes: short, with every odd byte spelt out. */
export function quote(text) {
  const escaped = (byte) => ESCAPES[byte] ?? `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const shown = text.slice(0, LONGEST_QUOTE).replace(/\\|[^ -~]/g, escaped);
  return text.length > LONGEST_QUOTE ? `"${shown}"... (${text.length} bytes)` : `"${shown}"`;
}

/** A place in a file for people: `line 3`, or the end of the file. */
export function place(text, offset) {
  if (offset >= text.length) return "end of file";
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return `line ${line}`;
}

/** Every token of a text up to the first fault: {words, offsets, fault}; a fault is a sentence. */
export function readIntegers(text, { most, negative = false }) {
  const words = [];
  const offsets = [];
  const tokens = /[^ \t\r\n]+/g;
  for (let match = tokens.exec(text); match; match = tokens.exec(text)) {
    const [word] = match;
    const expected = wrongIn(word, negative) || (words.length === most ? `at most ${most} numbers` : "");
    if (expected) {
      const found = expected.startsWith("at most") ? `more: ${quote(word)}` : quote(word);
      return { words, offsets, fault: rejection(place(text, match.index), expected, found) };
    }
    words.push(word);
    offsets.push(match.index);
  }
  return { words, offsets };
}

/** What would have been a number; an empty text where the word is one. */
function wrongIn(word, negative) {
  const sign = negative ? "plus sign" : "sign";
  const notCanonical = `a decimal number without ${sign}, leading zeros or letters`;
  const start = /^-?[0-9]*/.exec(word)[0];
  if (start.length < word.length) {
    const byte = word.charCodeAt(start.length);
    return byte >= 33 && byte <= 126 ? notCanonical : "digits and white space (space, tab, line feed, carriage return)";
  }
  const minus = word[0] === "-";
  const digits = minus ? word.slice(1) : word;
  if (!digits || (digits.length > 1 && digits[0] === "0") || (minus && (!negative || digits[0] === "0")))
    return notCanonical;
  if (digits.length < 19 || (digits.length === 19 && BigInt(digits) <= LARGEST)) return "";
  return minus ? `a number down to -${LARGEST}` : `a number up to ${LARGEST}`;
}
