/**
 * The words of a line as bash would read them, up to the cursor; the last one is being written, and
 * may be empty. What `$` and backquotes stand for is not known and stays as it is.
 */
export function wordsIn(line: string): readonly string[] {
  const words: string[] = [];
  let word = '';
  let begun = false;
  let quote: '"' | "'" | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at] as string;
    if (sign === '\\' && quote !== "'") {
      at += 1;
      word += line[at] ?? '';
      begun = true;
    } else if (quote !== undefined) {
      if (sign === quote) quote = undefined;
      else word += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      begun = true;
    } else if (/\s/.test(sign)) {
      if (begun) words.push(word);
      [word, begun] = ['', false];
    } else {
      word += sign;
      begun = true;
    }
  }
  return [...words, word];
}

/**
 * A candidate as bash is to put it in: bash takes `:` and `=` for ends of words, so that only what
 * comes after the last one that is written is replaced; what has a meaning to it is escaped.
 */
export function forBash(candidate: string, written: string): string {
  const done = Math.max(written.lastIndexOf(':'), written.lastIndexOf('=')) + 1;
  return candidate
    .slice(done)
    .replace(/[\s"'\\$\`&|;<>()*?[\]{}!#~]/g, (sign, at: number) =>
      sign === '~' && at > 0 ? sign : `\\${sign}`,
    );
}
