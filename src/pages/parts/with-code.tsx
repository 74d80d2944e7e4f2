/** A sentence of the API; what it has between back quotes is shown as code. */
export function withCode(text: string) {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 0 ? part : <code key={`${i} ${part}`}>{part}</code>));
}
