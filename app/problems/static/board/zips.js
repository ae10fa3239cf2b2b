// Zip archives, read from a File of the reader's disk: the directory at its end, then the entries that are wanted.

const DIRECTORY_AT_MOST = 66_000; // bytes from the end of a zip in which its directory is looked for
const [STORED, DEFLATED] = [0, 8];

/** Whether the bytes of a file begin as those of a zip do. */
export async function isZip(file) {
  const magic = String.fromCharCode(...new Uint8Array(await file.slice(0, 4).arrayBuffer()));
  return magic === "PK\x03\x04" || magic === "PK\x05\x06";
}

/** The files of a zip by its directory: {path, size, packed, header, method, isSecret}; an error says what is wrong with it.
 *
 * null: it has too many entries, or is too large, to be read here.
 */
export async function entriesOf(file) {
  const start = Math.max(0, file.size - DIRECTORY_AT_MOST);
  const tail = new DataView(await file.slice(start).arrayBuffer());
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error(_("this zip has no directory at its end: it is cut or damaged"));
  const [count, length, at] = [
    tail.getUint16(end + 10, true),
    tail.getUint32(end + 12, true),
    tail.getUint32(end + 16, true),
  ];
  if (count === 0xffff || at === 0xffffffff) return null;
  const directory = new DataView(await file.slice(at, at + length).arrayBuffer());
  const entries = [];
  for (let place = 0; place + 46 <= directory.byteLength && entries.length < count; ) {
    if (directory.getUint32(place, true) !== 0x02014b50) throw new Error(_("the directory of this zip is damaged"));
    const [flags, method, name, extra, comment] = [8, 10, 28, 30, 32].map((offset) =>
      directory.getUint16(place + offset, true),
    );
    const [packed, size, header] = [20, 24, 42].map((offset) => directory.getUint32(place + offset, true));
    const path = new TextDecoder().decode(
      new Uint8Array(directory.buffer, place + 46, Math.min(name, directory.byteLength - place - 46)),
    );
    if (!path.endsWith("/")) entries.push({ path, size, packed, header, method, isSecret: (flags & 1) === 1 });
    place += 46 + name + extra + comment;
  }
  return entries;
}

/** The bytes of an entry as the zip has them, as a Blob: the first `most` of them. */
export async function packedOf(file, entry, most = Infinity) {
  const header = new DataView(await file.slice(entry.header, entry.header + 30).arrayBuffer());
  if (header.byteLength < 30) throw new Error(_("%(name)s: this zip is cut or damaged", { name: entry.path }));
  const from = entry.header + 30 + header.getUint16(26, true) + header.getUint16(28, true);
  return file.slice(from, from + Math.min(entry.packed, most));
}

/** The bytes of an entry; an error where they cannot be unpacked, or are more than `most`, whatever the directory says. */
export async function unpacked(file, entry, most) {
  const canUnpack =
    entry.method === STORED || (entry.method === DEFLATED && typeof DecompressionStream !== "undefined");
  if (entry.isSecret || !canUnpack) throw new Error(_("%(name)s: this browser cannot unpack it", { name: entry.path }));
  const data = (await packedOf(file, entry)).stream();
  const reader = (
    entry.method === STORED ? data : data.pipeThrough(new DecompressionStream("deflate-raw"))
  ).getReader();
  const pieces = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new Error(_("%(name)s: it is larger than %(most)s bytes", { name: entry.path, most }));
    }
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
