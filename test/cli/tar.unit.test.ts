import { expect, it } from 'vitest';

type Tar = {
  readonly filesInTar: (archive: Buffer) => Iterable<{ path: string; content: Buffer }>;
};
const file = new URL('../../scripts/tar.js', import.meta.url).href;
const { filesInTar } = (await import(file)) as Tar;

/** An entry of a tar archive: its header and its content, padded to blocks of 512 bytes. */
function entry(type: string, path: string, content: string, prefix = ''): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  header.write(prefix, 345);
  const body = Buffer.alloc(512 * Math.ceil(content.length / 512));
  body.write(content);
  return Buffer.concat([header, body]);
}

const read = (...entries: readonly Buffer[]): readonly string[] =>
  [...filesInTar(Buffer.concat([...entries, Buffer.alloc(1024)]))].map(
    ({ path, content }) => `${path}: ${content.toString().slice(0, 5)} ${content.length}`,
  );

it('reads the files of an archive, long paths too, and leaves folders out', () => {
  const long = `package/${'deep/'.repeat(30)}c.txt`;
  const told = `${long.length + 10} path=${long}\n`;
  expect(
    read(
      entry('5', 'package/', ''),
      entry('0', 'package/a.txt', 'alpha'),
      entry('0', 'b.txt', 'b'.repeat(600), 'package/sub'),
      entry('x', 'PaxHeader', told),
      entry('0', 'package/deep', 'c'),
      entry('0', 'package/d.txt', ''),
    ),
  ).toEqual([
    'package/a.txt: alpha 5',
    'package/sub/b.txt: bbbbb 600',
    `${long}: c 1`,
    'package/d.txt:  0',
  ]);
});

it('refuses an archive that is cut off', () => {
  expect(() => read(entry('0', 'a.txt', 'x'.repeat(3000)).subarray(0, 1024))).toThrow('damaged');
});
