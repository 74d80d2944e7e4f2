import type { StoredDocument } from '../model/document.js';
import { lengthOf, momentFrom } from '../words.js';
import type { Io } from './io.js';
import { colourOf, jobFacts, type JobFacts } from './jobs.js';
import { tableLines, type TableCell } from './table.js';

/**
 * Jobs in aligned columns, one line each: flow, status, state, when it began (on a terminal as seen
 * from now, else ISO 8601), how long it took, what went wrong, the version of its flow where
 * one of the jobs has a version, and its id at the end.
 */
export function jobTable(
  jobs: readonly StoredDocument[],
  now: number,
  io: Pick<Io, 'style' | 'resultsOnTerminal'>,
): readonly string[] {
  const facts = jobs.map((job) => jobFacts(job, now));
  const isVersioned = facts.some(({ version }) => version !== undefined);
  const head = ['FLOW', 'STATUS', 'STATE', 'STARTED', 'TOOK', 'FAILURE'];
  const rows = facts.map((one) => [
    ...cellsOf(one, now, io.resultsOnTerminal),
    ...(isVersioned ? [{ text: one.version ?? '-' }] : []),
    { text: one.id, style: 'dim' as const },
  ]);
  return tableLines([...head, ...(isVersioned ? ['VERSION'] : []), 'ID'], rows, io);
}

function cellsOf(facts: JobFacts, now: number, relative: boolean): readonly TableCell[] {
  const {
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
  ];
}
