import { problems } from '../../src/errors.js';
import { exitStatuses } from '../../src/errors/exits.js';
import { failureNames } from '../../src/model/failures.js';
import { pluginFailureNames } from '../../src/plugin/failures.js';
import { code, meaningsBelow, page, prose, table } from './markdown.js';

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
      table(['status', 'of a command', 'of a job'], exitRows()),
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

function exitRows(): readonly (readonly string[])[] {
  const all: readonly (readonly [string, { readonly command?: string; readonly job?: string }])[] =
    Object.entries(exitStatuses);
  return all.map(([status, { command = '', job = '' }]) => [status, prose(command), prose(job)]);
}

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
  const told = meaningsBelow(text, heading);
  return names.map((name) => [code(name), told.get(name) ?? '']);
}
