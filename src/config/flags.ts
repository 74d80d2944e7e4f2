import { flagName, settings, type Setting } from './table.js';

/** What was said on the command line; it beats everything else. */
export type Flags = {
  readonly url?: string | undefined;
  readonly database?: string | undefined;
  readonly app?: string | undefined;
  readonly owner?: string | undefined;
  readonly slots?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly queues?: readonly string[] | undefined;
  readonly dir?: string | undefined;
  readonly port?: number | undefined;
  /** Where the HTTP API listens: `host:port`, or one of them. */
  readonly http?: string | undefined;
};

/**
 * The options that are settings, by their names, of all that were given; the schema of each command has
 * checked their form.
 */
export function flagsIn(given: Readonly<Record<string, unknown>>): Flags {
  const rows: readonly Setting[] = Object.values(settings);
  const read = rows.flatMap((row) => {
    const name = flagName(row).slice(2);
    const text = given[name];
    return name === '' || typeof text !== 'string' ? [] : [[name, valueOf(row, text)] as const];
  });
  return Object.fromEntries(read);
}

function valueOf({ flag = '' }: Setting, text: string): string | number | readonly string[] {
  if (flag.endsWith('<n>')) return Number(text);
  return flag.endsWith('<a,b>') ? listIn(text) : text;
}

/** `a,b` as a list. */
function listIn(text: string): readonly string[] {
  return text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
}
