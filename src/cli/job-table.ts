import type { StoredDocument } from '../model/document.js';
import { lengthOf, momentFrom } from '../words.js';
import type { Io } from './io.js';
import { colourOf, jobFacts, type JobFacts } from './jobs.js';
import { tableLines, type TableCell } from './table.js';

/**
 * Jobs in aligned columns, one line each: flow, status, state, when it began (on a terminal as seen
 * from now, else ISO 8601), how long it took, what went wrong, and its id at the end.
 */
export function jobTable(
  jobs: readonly StoredDocument[],
  now: number,
  io: Pick<Io, 'style' | 'resultsOnTerminal'>,
): readonly string[] {
  const head = ['FLOW', 'STATUS', 'STATE', 'STARTED', 'TOOK', 'FAILURE', 'ID'];
  const rows = jobs.map((job) => cellsOf(jobFacts(job, now), now, io.resultsOnTerminal));
  return tableLines(head, rows, io);
}

function cellsOf(facts: JobFacts, now: number, relative: boolean): readonly TableCell[] {
  const {
    id,
    key,
    status,
    custom_status: custom,
    state,
    start,
    due,
    took_ms: took,
    failure_name: name,
    exit,
  } = facts;
  const at = due ?? start;
  const when = at === undefined ? '-' : relative ? momentFrom(now, Date.parse(at)) : at;
  const failed = status === 'failed' ? `${name ?? 'no name'} (exit ${exit ?? '?'})` : '-';
  return [
    { text: key },
    { text: custom === undefined ? status : `${status} [${custom}]`, style: colourOf(status) },
    { text: state },
    { text: when },
    { text: took === undefined ? '-' : lengthOf(took) },
    status === 'failed' ? { text: failed, style: 'red' } : { text: failed },
    { text: id, style: 'dim' },
  ];
}
