import type { StoredDocument } from '../model/document.js';
import type { Status } from '../model/status.js';
import { isDocument, withoutConflicts } from './change.js';
import { type CouchRequest, databasePath } from './client.js';
import type { Connection } from './connection.js';

/** The views of `_design/<app>_search`; all others are of `_design/<app>`. */
export const searchViewNames = [
  ...(['search', 'figures', 'refused', 'schedules', 'hooks'] as const),
  'jobs_by_key',
  'inbox',
] as const;

/** The views of the design documents. */
export const viewNames = [
  'tasks',
  'flows',
  'jobs',
  'unfinished',
  'awake',
  'due',
  'failed',
  'children',
  'requests',
  'signals',
  'events',
  'triggers',
  'waiting',
  'engines',
  'locks',
  ...searchViewNames,
] as const;
export type ViewName = (typeof viewNames)[number];

/** Flow, owner, status at the last change, name of the failure, and when it is due (epoch ms). */
export type JobRow = readonly [
  flow: string,
  owner: string,
  status: Status,
  failure: string | null,
  due: number | null,
];

/** Reduced: so many jobs, and the ms they took together, at least and at most. */
export type Figures = {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
};

/** State (`''`: new) and exit (`null`: none yet) of a job. */
type StateAndExit = { readonly state: string; readonly exit: number | null };

/** What the views hold. */
export type Views = {
  /** Key `name::owner`; value: the plugin. */
  readonly tasks: { readonly key: string; readonly value: string };
  /** Key `name::owner`; value: whether it is enabled. */
  readonly flows: { readonly key: string; readonly value: boolean };
  /** Every job once. Key `flow::owner`. */
  readonly jobs: { readonly key: string; readonly value: StateAndExit };
  /** Jobs that are not final. Key `[state]`, `['']` for new ones; value: `flow::owner`. */
  readonly unfinished: { readonly key: readonly [string]; readonly value: string };
  /** Jobs that are not final, but for those that sleep until a time. Key: state, `''` for new ones. */
  readonly awake: { readonly key: string; readonly value: null };
  /**
   * Jobs that are not final, by when something is due (epoch ms); value: state. And schedules, `0` for
   * those that were edited; value: `schedule`. And events whose jobs are not all made, or that are to be gathered:
   * `0`; value: `event`. And gathered events, `0` while a job of theirs is made; value: `gathering`.
   */
  readonly due: { readonly key: number; readonly value: string };
  /** Final jobs without success. Key `[flow, end]` (epoch ms). */
  readonly failed: {
    readonly key: readonly [string, number | null];
    readonly value: { readonly exit: number | null; readonly failure: string | null };
  };
  /** Jobs by their search keys, for other programs. Key `[name, value, start]`. */
  readonly jobs_by_key: {
    readonly key: readonly [string, string | number | boolean, number | null];
    readonly value: readonly [flow: string, owner: string, state: string, exit: number | null];
  };
  /** Jobs by the id of their parent job. */
  readonly children: { readonly key: string; readonly value: StateAndExit };
  /** Requests that no engine has taken yet, by the id of their job; value: the action. */
  readonly requests: { readonly key: string; readonly value: string };
  /** Signals that no engine has taken yet, by the id of their job; value: the name. */
  readonly signals: { readonly key: string; readonly value: string };
  /** Announced events. Key `[type, key]`; value: when an engine first handled it, and when its life ends (epoch ms). */
  readonly events: {
    readonly key: readonly [string, string];
    readonly value: readonly [at: number | null, until: number | null] | null;
  };
  /**
   * Flows that events start: key `['event', type]`. And events that wait in a gathering: `['gathered', id]`.
   * And events whose life ends, which nothing waits for any more: `['expires', until]` (epoch ms).
   */
  readonly triggers: {
    readonly key: readonly ['event' | 'gathered', string] | readonly ['expires', number];
    readonly value: null;
  };
  /** Waiting steps of jobs: key `['signal', name, '']` or `['event', type, key]`; value: owner. */
  readonly waiting: {
    readonly key: readonly ['signal' | 'event', string, string];
    readonly value: string;
  };
  /** Engine documents, by host; value: their state. And controls, by engine; value: `control`. */
  readonly engines: { readonly key: string; readonly value: string };
  /** Jobs by what they are searched for. Key `[what, value …, start]` (epoch ms). */
  readonly search: { readonly key: readonly (string | number)[]; readonly value: JobRow };
  /** Jobs counted by `[owner, status, day, hour, minute]`, the owner `''` standing for all. */
  readonly figures: { readonly key: readonly (string | number)[]; readonly value: Figures };
  /** Schedules. Key `name::owner`; value: when it is due (epoch ms), null: never. */
  readonly schedules: { readonly key: string; readonly value: number | null };
  /** Key `name::owner`; value: whether it is enabled. */
  readonly hooks: { readonly key: string; readonly value: boolean };
  /**
   * Forms that wait for a person. Key: `user`, `group`, `anyone` or `all`, the name, and when an answer is due (epoch
   * ms); value: owner, path and attempt. Key `form`, id of the job and path: what people need of the form.
   */
  readonly inbox:
    | {
        readonly key: readonly ['user' | 'group' | 'anyone' | 'all', string, number];
        readonly value: readonly [owner: string, path: string, attempt: number];
      }
    | { readonly key: readonly ['form', string, string]; readonly value: object };
  /** Requests and signals that no job could take, by their type; value: the reason. */
  readonly refused: { readonly key: string; readonly value: string };
  /**
   * Locks of jobs. Key: kind, and the target, the pattern, the flow, or until when a lock of `unique` stays
   * (`uniqueUntil`); value: the job and since when (epoch ms).
   */
  readonly locks: {
    readonly key: readonly ['target' | 'pattern' | 'permit' | 'unique', string];
    readonly value: {
      readonly job: string;
      readonly at: number;
      /** Absent in locks of earlier versions. */
      readonly owner?: string;
      readonly scope?: 'database';
    };
  };
};

/** One row of a view. `doc` only with `includeDocs`, and when the document is still there. */
export type ViewRow<N extends ViewName = ViewName> = {
  readonly id: string;
  readonly key: Views[N]['key'];
  readonly value: Views[N]['value'];
  readonly doc?: StoredDocument;
  /** The document is in conflict; told only with `conflicts`. */
  readonly conflicted?: true;
};

/** Which rows, as CouchDB understands it; keys are any JSON. */
export type ViewQuery = {
  readonly key?: unknown;
  readonly keys?: readonly unknown[];
  readonly startKey?: unknown;
  readonly endKey?: unknown;
  readonly startKeyDocId?: string;
  readonly endKeyDocId?: string;
  readonly inclusiveEnd?: boolean;
  readonly limit?: number;
  readonly skip?: number;
  readonly descending?: boolean;
  readonly includeDocs?: boolean;
  /** With `includeDocs`: tells which documents are in conflict. */
  readonly conflicts?: boolean;
  readonly reduce?: boolean;
  readonly group?: boolean;
  /** Rows whose keys begin with the same so many elements become one. */
  readonly groupLevel?: number;
};

/** The request for a view. With `keys` it is a POST: they may be many. */
export function viewRequest(
  connection: Connection,
  name: ViewName,
  query: ViewQuery,
): CouchRequest {
  const isSearch = searchViewNames.some((one) => one === name);
  const app = encodeURIComponent(isSearch ? `${connection.app}_search` : connection.app);
  // A user may have added a reduce to the view; rows are wanted unless asked otherwise.
  const wantsGroups = query.group === true || query.groupLevel !== undefined;
  const { keys, reduce = wantsGroups, ...plain } = query;
  // CouchDB knows nothing of `offset`; the embedded server need not count what nobody asks for.
  const rest = { ...plain, reduce, offset: false };
  const request = {
    path: databasePath(connection, `/_design/${app}/_view/${name}`),
    query: Object.fromEntries(Object.entries(rest).flatMap(parameter)),
    action: `read the view ${name}`,
    long: true,
  };
  return keys === undefined ? request : { ...request, method: 'POST', body: { keys } };
}

/** Key parameters are written as JSON, `*_docid` as plain text. */
const parameterNames: Readonly<Record<string, string>> = {
  startKey: 'start_key',
  endKey: 'end_key',
  startKeyDocId: 'start_key_doc_id',
  endKeyDocId: 'end_key_doc_id',
  inclusiveEnd: 'inclusive_end',
  includeDocs: 'include_docs',
  groupLevel: 'group_level',
};

function parameter([name, value]: [string, unknown]): [string, unknown][] {
  return value === undefined ? [] : [[parameterNames[name] ?? name, value]];
}

/** The rows of a view's answer; undefined when the answer holds none. */
export function viewRows<N extends ViewName>(body: unknown): readonly ViewRow<N>[] | undefined {
  const { rows } = body as { rows?: unknown };
  if (!Array.isArray(rows)) return undefined;
  return rows.map((row: ViewRow<N> & { readonly doc?: unknown }) => {
    const { id, key, value, doc } = row;
    return { id, key, value, ...(isDocument(doc) ? withoutConflicts(doc) : {}) };
  });
}
