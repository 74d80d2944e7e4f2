/** So many values are checked in no time, by a schema that cannot take long. */
export const cheapValues = 1_000;

/**
 * Whether checking by a schema, given as JSON, may take longer than its length and the number of values
 * suggest: it refers to itself, has patterns, or compares the items of lists with each other.
 */
export function mayTakeLong(schema: string): boolean {
  return /"(?:\$\w*[rR]ef|pattern\w*|uniqueItems)"/.test(schema);
}
