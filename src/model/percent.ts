/**
 * Decodes the percent escapes of a text. A percent sign that begins no valid escape of UTF-8 stands for
 * itself: people write `100%off` into addresses.
 */
export function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
