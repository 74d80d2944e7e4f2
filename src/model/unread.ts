/** Why a value is not read. */
export type TooMuch = 'values' | 'depth';

/**
 * A top-level value of a document that was left as text, because reading it would hold up whoever
 * reads it: it has too many values, or is nested too deeply. It is written back as it is.
 */
export class Unread {
  /** `json`: the value; of `unreadKeys` all members, without the braces around them. */
  constructor(
    readonly json: string,
    readonly tooMuch: TooMuch,
  ) {}

  /** Whoever makes JSON of the document gets what stands in the database. */
  toJSON(): unknown {
    return JSON.parse(this.json) as unknown;
  }
}

/** The key under which all members beyond the first thousands stand together, as one `Unread`. */
export const unreadKeys = 'tws:unread-keys';

/** The JSON of a document, with what was left as text in its place. */
export function documentJson(doc: Readonly<Record<string, unknown>>): string {
  if (!Object.values(doc).some((value) => value instanceof Unread)) return JSON.stringify(doc);
  const members = Object.entries(doc).flatMap(([key, value]) => {
    if (!(value instanceof Unread)) {
      const json = JSON.stringify(value) as string | undefined;
      return json === undefined ? [] : [`${JSON.stringify(key)}:${json}`];
    }
    return [key === unreadKeys ? value.json : `${JSON.stringify(key)}:${value.json}`];
  });
  return `{${members.join(',')}}`;
}
