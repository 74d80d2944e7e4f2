import type { StoredDocument } from '../model/document.js';
import { lengthOf, momentFrom } from '../words.js';
import type { Io, Style } from './io.js';
import { safeLine } from './safe.js';
import { colourOf, jobFacts, type JobFacts } from './jobs.js';

type Cell = { readonly text: string; readonly style?: Style };

/**
 * Jobs in aligned columns, one line each: flow, status, state, when it began (on a terminal as seen
 * from now, else ISO 8601), how long it took, what went wrong, and its id at the end.
 */
export function jobTable(
  jobs: readonly StoredDocument[],
  now: number,
  io: Pick<Io, 'style' | 'resultsOnTerminal'>,
): readonly string[] {
  if (jobs.length === 0) return [];
  const head = ['FLOW', 'STATUS', 'STATE', 'STARTED', 'TOOK', 'FAILURE', 'ID'];
  const rows = [
    ...(io.resultsOnTerminal ? [head.map((text): Cell => ({ text, style: 'dim' }))] : []),
    ...jobs.map((job) =>
      cellsOf(jobFacts(job, now), now, io.resultsOnTerminal).map((cell) => ({
        ...cell,
        text: safeLine(cell.text),
      })),
    ),
  ];
  const widths = head.map((_, i) => Math.max(...rows.map((row) => lengthIn(row[i]?.text ?? ''))));
  return rows.map((row) =>
    row
      .map(({ text, style }, i) => {
        const pad = ' '.repeat(i === row.length - 1 ? 0 : (widths[i] ?? 0) - lengthIn(text));
        return `${style === undefined ? text : io.style(style, text)}${pad}`;
      })
      .join('  '),
  );
}

function cellsOf(facts: JobFacts, now: number, relative: boolean): readonly Cell[] {
  const { id, key, status, state, start, due, took_ms: took, failure_name: name, exit } = facts;
  const at = due ?? start;
  const when = at === undefined ? '-' : relative ? momentFrom(now, Date.parse(at)) : at;
  const failed = status === 'failed' ? `${name ?? 'no name'} (exit ${exit ?? '?'})` : '-';
  return [
    { text: key },
    { text: status, style: colourOf(status) },
    { text: state },
    { text: when },
    { text: took === undefined ? '-' : lengthOf(took) },
    status === 'failed' ? { text: failed, style: 'red' } : { text: failed },
    { text: id, style: 'dim' },
  ];
}

/** Characters, as a terminal counts most of them. */
const lengthIn = (text: string): number => [...text].length;
