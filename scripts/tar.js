/*
 * Reads tar archives as npm makes them, so that building needs no program beside Node and npm. The
 * package `tar` would do it as well, with five packages more for these lines.
 */

const BLOCK = 512;

/** The files of an archive, `{path, content}` each. @throws Error when it is damaged */
export function* filesInTar(archive) {
  let longPath;
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0;) {
    const header = archive.subarray(at, at + BLOCK);
    const size = Number.parseInt(text(header, 124, 12), 8);
    const end = at + BLOCK + size;
    if (!Number.isInteger(size) || end > archive.length) throw new Error('the archive is damaged');
    const content = archive.subarray(at + BLOCK, end);
    const type = text(header, 156, 1);
    // An extended header (POSIX pax) tells the path of the entry after it.
    if (type === 'x') longPath = /^\d+ path=(.*)$/m.exec(content.toString())?.[1];
    else {
      const prefix = text(header, 345, 155);
      const path = longPath ?? (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100);
      longPath = undefined;
      if (type === '' || type === '0') yield { path, content };
    }
    at = BLOCK * Math.ceil(end / BLOCK);
  }
}

function text(header, from, length) {
  const [before] = header
    .subarray(from, from + length)
    .toString()
    .split('\0');
  return before.trim();
}
