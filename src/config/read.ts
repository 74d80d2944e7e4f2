import type { Environment } from './environment.js';
import type { SettingsFile } from './file.js';
import type { Flags } from './flags.js';
import { flagName, settings, type Setting, type SettingName } from './table.js';

/** Where settings are said. */
export type Sources = {
  readonly flags: Flags;
  readonly env: Environment;
  readonly file: SettingsFile;
};

/** What is said of a setting, undefined when nothing is, and where. */
export type Said<T> = { readonly value: T | undefined; readonly origin: string };

/** The value at a path of tws.json. */
type ValueAt<
  T,
  Path extends string,
> = Path extends `${infer Key extends keyof T & string}.${infer Rest}`
  ? ValueAt<NonNullable<T[Key]>, Rest>
  : Path extends keyof T
    ? Exclude<T[Path], undefined>
    : never;

/** The type of a setting's value. */
export type ValueOf<N extends SettingName> = ValueAt<SettingsFile, N>;

/**
 * Settings with a variable of the environment that could not be read: a variable is taken as it is, so that
 * its setting must be a text.
 */
type Unreadable = {
  [N in SettingName]: (typeof settings)[N] extends { readonly variable: string }
    ? string extends ValueOf<N>
      ? never
      : N
    : never;
}[SettingName];

/**
 * The strongest source that says something: flag over environment over tws.json. An empty text says nothing.
 */
export function said<N extends Exclude<SettingName, Unreadable>>(
  name: N,
  sources: Sources,
): Said<ValueOf<N>> {
  const row: Setting = settings[name];
  const { flags, env, file } = sources;
  const values = [
    [inFlags(row, flags), flagName(row)],
    [row.variable === undefined ? undefined : env[row.variable], row.variable ?? ''],
    [inFile(name, file), 'tws.json'],
  ] as const;
  for (const [value, origin] of values) {
    if (value !== undefined && value !== '') return { value: value as ValueOf<N>, origin };
  }
  return { value: undefined, origin: 'default' };
}

function inFlags(row: Setting, flags: Flags): unknown {
  const value = flags[flagName(row).slice(2) as keyof Flags];
  return row.ofFlag === undefined || value === undefined ? value : row.ofFlag(String(value));
}

function inFile(name: SettingName, file: SettingsFile): unknown {
  return name
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], file);
}
