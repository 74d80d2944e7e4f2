/** Whether something reads `params.<key>`: a template, a condition, a list to go over, an output. */
export function readsParam(definition: unknown, key: string): boolean {
  const text = JSON.stringify(definition) ?? '';
  const word = key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`params\\.${word}(?![\\w-])`).test(text);
}
