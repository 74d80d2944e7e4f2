import { flagName, settings, type Setting } from './table.js';

type Row = (typeof settings)[keyof typeof settings];
type Form = Extract<Row, { readonly flag: string }>['flag'];
type Value<F extends Form> = F extends `${string}<n>`
  ? number
  : F extends `${string}<a,b>`
    ? readonly string[]
    : string;

/** What was said on the command line, by the names of the options; it beats everything else. */
export type Flags = {
  readonly [F in Form as F extends `--${infer Name} ${string}` ? Name : never]?:
    Value<F> | undefined;
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
    return name === '' || typeof text !== 'string' ? [] : [[name, flagValue(row, text)] as const];
  });
  return Object.fromEntries(read);
}

/** What the text of an option says, as the form of the option tells to read it; NaN for no number. */
export function flagValue(
  { flag = '' }: Setting,
  text: string,
): string | number | readonly string[] {
  if (flag.endsWith('<n>')) return /^\d+$/.test(text) ? Number(text) : NaN;
  return flag.endsWith('<a,b>') ? listIn(text) : text;
}

/** `a,b` as a list. */
function listIn(text: string): readonly string[] {
  return text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
}
