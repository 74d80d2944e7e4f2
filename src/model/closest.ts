/** The word nearest to a mistyped one, if it is near enough to be meant. */
export function closest(word: string, words: readonly string[]): string | undefined {
  const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');
  const most = Math.max(1, word.length / 3);
  const given = plain(word);
  // A word is at least as far away as it is longer or shorter.
  const ranked = words
    .filter((name) => Math.abs(plain(name).length - given.length) <= most)
    .map((name) => ({ name, distance: editDistance(given, plain(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= most ? best.name : undefined;
}

/** Letters to change, insert, leave out or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, change, swap));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
