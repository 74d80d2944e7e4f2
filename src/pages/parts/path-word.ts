/**
 * A part of the address as the word that it stands for. The router decodes what `decodeURI` decodes,
 * which leaves colons and slashes; a percent sign that is left is one.
 */
export function pathWord(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
