import type { Status } from '../../model/status.js';
import { shownStatuses, type Summary } from '../answers.js';
import type { QueryValues } from '../api.js';

/** What the list is about; it stands in the address, so that it can be sent to somebody. */
export type ListFilter = {
  readonly status: readonly Status[];
  readonly flow?: string;
  readonly owner?: string;
  readonly tag?: string;
  /** `NAME=VALUE`. */
  readonly key?: string;
  /** Name of the failure. */
  readonly failure?: string;
  readonly external_id?: string;
  readonly parent?: string;
  /** Begun then or later, as a local time `2030-01-31T08:00`. */
  readonly from?: string;
  readonly to?: string;
};

/** The parts of a filter that are one text each. */
export const filterTexts = [
  'flow',
  'owner',
  'tag',
  'key',
  'failure',
  'external_id',
  'parent',
  'from',
  'to',
] as const;
export type TextPart = (typeof filterTexts)[number];

/** The filter of an address. */
export function filterOf(search: URLSearchParams): ListFilter {
  const words = (search.get('status') ?? '').split(',');
  const parts = filterTexts.flatMap((name) => {
    const value = search.get(name)?.trim() ?? '';
    return value === '' ? [] : [[name, value]];
  });
  return {
    status: shownStatuses.filter((one) => words.includes(one)),
    ...(Object.fromEntries(parts) as Partial<Record<TextPart, string>>),
  };
}

/** The part of an address that stands for a filter; parts that say nothing are left out. */
export function searchParamsOf(filter: ListFilter): URLSearchParams {
  const search = new URLSearchParams();
  if (filter.status.length > 0) search.set('status', filter.status.join(','));
  for (const name of filterTexts) {
    const value = filter[name];
    if (value !== undefined && value !== '') search.set(name, value);
  }
  return search;
}

/** What GET jobs is asked. */
export function filterQuery({ status, from, to, ...rest }: ListFilter): QueryValues {
  return {
    ...rest,
    status,
    from: timeOf(from),
    to: timeOf(to),
  };
}

/** The changes that may concern what is listed. */
export function streamQueryOf({ flow, owner, tag }: ListFilter): QueryValues {
  return { flow, owner, tag };
}

/** Whether nothing but the status, and perhaps the owner, is asked for: counts tell of these. */
export function isCounted(filter: ListFilter): boolean {
  return filterTexts.every((name) => name === 'owner' || filter[name] === undefined);
}

/** Whether a job that changed belongs into the list. */
export function matches(job: Summary, filter: ListFilter): boolean {
  const { status, flow, owner, tag, key, failure, external_id: external, parent } = filter;
  const [name = '', ...value] = key?.split('=') ?? [];
  const from = timeOf(filter.from);
  const to = timeOf(filter.to);
  return (
    (status.length === 0 || status.includes(job.status)) &&
    (flow === undefined || job.flow === flow) &&
    (owner === undefined || job.owner === owner) &&
    (tag === undefined || tag.split(',').every((one) => job.tags?.includes(one) === true)) &&
    (key === undefined || textOf(job.keys?.[name]) === value.join('=')) &&
    (failure === undefined || job.failure?.name === failure) &&
    (external === undefined || job.external_id === external) &&
    (parent === undefined || job.parent === parent) &&
    (from === undefined || (job.start ?? Infinity) >= from) &&
    (to === undefined || (job.start ?? Infinity) < to)
  );
}

/** Only plain values are search keys. */
function textOf(value: unknown): string | undefined {
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
  return isPlain ? String(value) : undefined;
}

function timeOf(local: string | undefined): number | undefined {
  if (local === undefined) return undefined;
  const at = new Date(local).getTime();
  return Number.isNaN(at) ? undefined : at;
}
