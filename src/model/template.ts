/** Whether there may be something to fill in in a text: `{{…}}`, or `[[…]]`, which means the same. */
export function mayHoldTemplate(text: string): boolean {
  return /\{\{|\[\[/.test(text);
}
