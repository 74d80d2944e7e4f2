/** A file name, without ending, of a name: `A Task` -> `a-task`. One that is taken gets a number. */
export function freeFileName(name: string, taken: ReadonlyMap<string, unknown>): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z\d.]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  const base = plain === '' ? 'task' : plain;
  for (let i = 1; ; i += 1) {
    const file = i === 1 ? base : `${base}-${i}`;
    if (!taken.has(file)) return file;
  }
}
