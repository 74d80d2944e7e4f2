import { problems } from '../../src/errors.js';
import { failureNames } from '../../src/model/failures.js';
import { pluginFailureNames } from '../../src/plugin/failures.js';
import { code, page, prose, rowsBelow, table } from './markdown.js';

/** What the pages beside the sources say about failures, as texts. */
export type FailurePages = { readonly glossary: string; readonly plugins: string };

/** Errors of commands and API, and failures in jobs. */
export function errorsPage({ glossary, plugins }: FailurePages): string {
  const rows = Object.entries(problems)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { say, hint, exit, status }]) => [
      code(name),
      prose(sentenceOf(say as Say)),
      prose(hint),
      String(exit),
      String(status),
    ]);
  return page(
    'Errors',
    'Every error has a stable code, a sentence that says what happened, and one that says what to do. Commands print both and exit with the exit status; the API answers `{error, reason, hint}` with the HTTP status. Values are shown in `‹…›`.',
    [
      '## Exit statuses of commands',
      'With `--wait`, and for `tws watch JOB`, the exit status is that of the job.',
      table(['status', 'meaning'], exitStatuses),
      '## Errors of commands and the API',
      table(['code', 'sentence', 'what to do', 'exit', 'HTTP'], rows),
      '## Failures of jobs and steps',
      '`failure.name` in a job or step. Failures of your own plugins have the name of the error that they throw.',
      table(['name', 'what happened'], failureRows(failureNames, glossary, '### Failures')),
      '## Failures of the plugins that come with TWS',
      table(
        ['name', 'what happened'],
        failureRows(pluginFailureNames, plugins, '### Names of failures'),
      ),
    ],
  );
}

const exitStatuses: readonly (readonly string[])[] = [
  ['0', 'done; a job: succeeded'],
  ['1', 'it failed; a job: timed out'],
  ['2', 'wrong usage; a job: a task failed'],
  ['3', 'invalid documents; a job: a definition or parameter problem'],
  ['4', 'not found; a job: its steps were lost too often'],
  ['5', 'a job: expired or refused'],
  ['69', 'the database is not reachable'],
  ['70', 'an engine had to stop'],
  ['73', 'the name of the engine is taken'],
  ['77', 'not allowed'],
  ['78', 'a setting is wrong'],
  ['124', 'the time of `--timeout` is over'],
  ['130', 'interrupted; a job: cancelled'],
];

type Say = (details: Readonly<Record<string, unknown>>) => string;

/** The sentence of a row with names in place of its values; nothing where it needs real ones. */
function sentenceOf(say: Say): string {
  const names = new Proxy({}, { get: (_of, name) => `‹${String(name)}›` });
  try {
    const text = say(names);
    return text.replace(/NaN( \w+)?/g, '‹time›');
  } catch {
    return '';
  }
}

function failureRows(
  names: readonly string[],
  text: string,
  heading: string,
): readonly (readonly string[])[] {
  const told = new Map(
    rowsBelow(text, heading).map(([name = '', about = '']) => [name.replaceAll('`', ''), about]),
  );
  return names.map((name) => [code(name), told.get(name) ?? '']);
}
