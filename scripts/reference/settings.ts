import {
  sentenceOf,
  settings,
  variables,
  type Setting,
  type SettingName,
} from '../../src/config/table.js';
import { code, page, prose, table } from './markdown.js';

/** What is set in the environment and read where it is needed, beside the table of settings. */
const others: readonly (readonly [string, string])[] = [
  ['TWS_FILES', 'Folders beside the project from which jobs may name files, written as `PATH`.'],
  ['TWS_SENDMAIL', 'The program of `mail-sendmail`, with its arguments; default `sendmail`.'],
  ['NO_COLOR, FORCE_COLOR', 'Turn the colours of the terminal off or on.'],
];

/** All settings, their environment variables, options and defaults. */
export function settingsPage(): string {
  const rows = (Object.entries(settings) as [SettingName, Setting][]).map(
    ([name, { variable, flag, usual }]) => [
      code(name),
      code(variable ?? ''),
      code(flag ?? ''),
      code(shown(usual)),
      prose(sentenceOf(name)),
    ],
  );
  const only = Object.values(variables).map(({ variable, about }) => [
    code(variable),
    prose(about),
  ]);
  return page(
    'Settings',
    'Options win over environment variables, those over `tws.json`, and that over defaults. `tws config` shows each setting with its origin. A dot stands for an object: `http.port` is `{"http": {"port": …}}`.',
    [
      table(['`tws.json`', 'environment', 'option', 'default', 'meaning'], rows),
      '## Environment only',
      table(
        ['variable', 'meaning'],
        [...only, ...others.map(([name, about]) => [code(name), about])],
      ),
    ],
  );
}

function shown(usual: Setting['usual']): string {
  if (usual === undefined) return '';
  return typeof usual === 'string' ? usual : JSON.stringify(usual);
}
