/** Shorter texts are no secrets, and are in every answer. */
export const shortestText = 4;

/** As much of a refusing server's answer is quoted, in characters. */
export const longestQuote = 200;

/**
 * The beginning of an answer, for a sentence. A server may repeat what it was sent: none of these texts
 * is cut through, because half a secret is not recognised by the function that hides secrets.
 */
export function quoteOf(answer: string, sent: readonly string[]): string {
  const texts = sent.filter(({ length }) => length >= shortestText);
  let end = longestQuote;
  for (let before = -1; before !== end;) {
    before = end;
    end = texts.reduce((at, one) => cutBefore(answer, one, at), end);
  }
  const quote = answer.slice(0, end).replace(/\p{Surrogate}$/u, '');
  return quote.replace(/\s+/g, ' ').trim();
}

/** Where a quote ends that would end inside of a text: before it. */
function cutBefore(answer: string, text: string, end: number): number {
  const at = answer.indexOf(text, Math.max(0, end - text.length + 1));
  return at === -1 ? end : Math.min(end, at);
}

/** The texts of a request that may be secrets: its headers, also by word, strings in the body, and the address. */
export function textsSent(
  headers: Iterable<string>,
  body: string,
  { href, pathname, search, searchParams }: URL,
): readonly string[] {
  const values = [...headers];
  const words = values.flatMap((value) => value.split(/\s+/));
  const strings = (body.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map((one) => one.slice(1, -1));
  const address = [href, `${pathname}${search}`, pathname, search, ...searchParams.values()];
  return [...new Set([...values, ...words, ...strings, body, ...address])];
}
