import { filled } from './environment.js';
import { said, type Said, type Sources } from './read.js';
import { settings, variables, type Setting, type SettingName } from './table.js';

/** A setting as it is shown: credentials as `***`. */
export type Shown = { readonly value: unknown; readonly from: string };

type ShownSettings = {
  readonly shown: Readonly<Record<string, Shown>>;
  readonly origins: Readonly<Record<string, string>>;
};

/** Every setting with its source, in the order of the table. `known`: those that were worked out from several. */
export function showSettings(
  sources: Sources,
  known: Partial<Readonly<Record<SettingName, Said<unknown>>>>,
): ShownSettings {
  const names = Object.keys(settings) as SettingName[];
  const key = filled(sources.env[variables.crypto_key.variable]);
  const origin = key === undefined ? 'not set' : variables.crypto_key.variable;
  const rows: readonly Row[] = [
    ...names.map((name): Row => [name, settings[name], known[name] ?? said(name, sources)]),
    ['crypto_key', variables.crypto_key, { value: key, origin }],
  ];
  const shown = rows
    .filter(([, { show }]) => show !== 'never')
    .map(([name, row, { value, origin: from }]): [string, Shown] => [
      row.shownAs ?? name,
      { value: shownValue(row, value), from },
    ]);
  return {
    shown: Object.fromEntries(shown),
    origins: Object.fromEntries(shown.map(([name, { from }]) => [name, from])),
  };
}

type Row = readonly [name: string, row: Setting, said: Said<unknown>];

function shownValue({ show, usual }: Setting, value: unknown): unknown {
  if (show === 'stars') return value === undefined ? '' : '***';
  const shown = value ?? usual ?? '';
  return show === 'count' && Array.isArray(shown) ? shown.length : shown;
}
