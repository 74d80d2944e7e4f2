import { isObject } from '../model/object.js';
import type { Store } from '../store/store.js';
import { textOf } from '../words.js';
import { rowsInOrder, type RowPosition } from './search-rows.js';

/** Failed jobs of one cause. */
export type FailureGroup = {
  /** Name of the failure; `""` stands for failures without one, which no search finds by name. */
  readonly failure: string;
  readonly count: number;
  /** By flow, the most first; jobs with tasks of their own are those of the flow `""`. */
  readonly flows: readonly { readonly flow: string; readonly count: number }[];
  /** The job that began last, and what it says. */
  readonly newest: { readonly id: string; readonly at: number; readonly message?: string };
};

/**
 * The groups, the largest first. `looked`: so many failed jobs of these owners; `more`: older ones were
 * not looked at.
 */
export type FailureGroups = {
  readonly groups: readonly FailureGroup[];
  readonly looked: number;
  readonly more: boolean;
};

/** Failed jobs of all owners that are read, the newest first: only rows of an index are read. */
const mostRead = 50_000;
/** Rows that are read first. */
const firstRows = 1_000;
/** Groups of which the newest job is read for what it says. */
const mostTold = 20;

type Tally = { count: number; readonly flows: Map<string, number>; newest: RowPosition };

/**
 * Groups the failed jobs by what they failed with; `owners`: of these only. The index knows no owners, so
 * the limit `most` counts the jobs of all.
 */
export async function failureGroups(
  store: Store,
  owners?: readonly string[],
  most = mostRead,
): Promise<FailureGroups> {
  const tallies = new Map<string, Tally>();
  let read = 0;
  let looked = 0;
  let more = false;
  const ranges = [{ prefix: ['status', 'failed'] }];
  for await (const row of rowsInOrder(store, ranges, { after: undefined, page: firstRows })) {
    if (read >= most) {
      more = true;
      break;
    }
    read += 1;
    const [flow, owner, , failure] = row.facts;
    if (owners !== undefined && !owners.includes(owner)) continue;
    looked += 1;
    const name = failure ?? '';
    const tally = tallies.get(name) ?? { count: 0, flows: new Map<string, number>(), newest: row };
    tallies.set(name, tally);
    tally.count += 1;
    tally.flows.set(flow, (tally.flows.get(flow) ?? 0) + 1);
  }
  const groups = [...tallies].toSorted(([, a], [, b]) => b.count - a.count);
  const messages = await messagesOf(
    store,
    groups.slice(0, mostTold).map(([, { newest }]) => newest.id),
  );
  return {
    groups: groups.map(
      ([
        failure,
        {
          count,
          flows,
          newest: { id, when },
        },
      ]) => ({
        ...{ failure, count },
        flows: [...flows]
          .toSorted(([, a], [, b]) => b - a)
          .map(([flow, of]) => ({ flow, count: of })),
        newest: { id, at: when, ...messages.get(id) },
      }),
    ),
    looked,
    more,
  };
}

async function messagesOf(store: Store, ids: readonly string[]) {
  const docs = await store.getMany(ids);
  return new Map(
    [...docs].flatMap(([id, { failure }]) => {
      const message = isObject(failure) ? failure['message'] : undefined;
      return message === undefined ? [] : [[id, { message: textOf(message) }] as const];
    }),
  );
}
