import type { Status } from '../../model/status.js';
import { shownStatuses, type Summary } from '../answers.js';
import type { QueryValues } from '../api.js';

/** What the list is about; it stands in the address, so that it can be sent to somebody. */
export type ListFilter = {
  readonly status: readonly Status[];
  readonly flow?: string;
  /** Version of the flow. */
  readonly version?: string;
  readonly owner?: string;
  readonly tag?: string;
  /** `NAME=VALUE`. */
  readonly key?: string;
  /** Name of the failure. */
  readonly failure?: string;
  readonly external_id?: string;
  readonly parent?: string;
  /** What the id begins with. */
  readonly id_prefix?: string;
  /** What the name or the sentence of the failure contains. */
  readonly text?: string;
  /** Begun then or later, as a local time `2030-01-31T08:00`. */
  readonly from?: string;
  readonly to?: string;
};

/** The parts of a filter that are one text each. */
export const filterTexts = [
  'flow',
  'version',
  'owner',
  'tag',
  'key',
  'failure',
  'external_id',
  'parent',
  'id_prefix',
  'text',
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

/** The parts of a filter that a field of the job has to equal. */
const equalParts = ['flow', 'owner', 'external_id', 'parent'] as const;

/** Whether a job that changed belongs into the list. */
export function matches(job: Summary, filter: ListFilter): boolean {
  const { status, id_prefix: prefix = '' } = filter;
  return (
    (status.length === 0 || status.includes(job.status)) &&
    equalParts.every((name) => filter[name] === undefined || job[name] === filter[name]) &&
    (filter.version === undefined || job.flow_version === filter.version) &&
    matchesTags(job, filter) &&
    job.id.startsWith(prefix) &&
    matchesFailure(job, filter) &&
    matchesTimes(job, filter) &&
    matchesKey(job, filter)
  );
}

function matchesTags({ tags }: Summary, { tag }: ListFilter): boolean {
  return tag === undefined || tag.split(',').every((one) => tags?.includes(one) === true);
}

function matchesFailure({ failure: own }: Summary, { failure, text }: ListFilter): boolean {
  const said = `${own?.name ?? ''}: ${own?.message ?? ''}`.toLowerCase();
  return (
    (failure === undefined || own?.name === failure) &&
    (text === undefined || said.includes(text.toLowerCase()))
  );
}

function matchesTimes({ start = Infinity }: Summary, filter: ListFilter): boolean {
  const from = timeOf(filter.from) ?? -Infinity;
  const to = timeOf(filter.to);
  return start >= from && (to === undefined || start < to);
}

function matchesKey({ keys }: Summary, { key }: ListFilter): boolean {
  if (key === undefined) return true;
  const [name = '', ...value] = key.split('=');
  return textOf(keys?.[name]) === value.join('=');
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
