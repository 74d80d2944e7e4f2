import { expect, it } from 'vitest';
import type { Assembly } from '../../../src/engine/assembly.js';
import { createHeardEvents } from '../../../src/engine/control/message.js';
import { scanDatabase, scanParts } from '../../../src/engine/loop/scan.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { createPageSize, pagesOf } from '../../../src/store/paging.js';
import type { ViewQuery } from '../../../src/store/views.js';

const rowOf = (n: number) => {
  const id = `job-${String(n).padStart(4, '0')}`;
  return { id, key: '', value: null, doc: { _id: id, _rev: '1-x', type: 'job' } };
};

// Shows J-07.
it('a scan misses no job when the last one of a page ends meanwhile', async () => {
  let rows = Array.from({ length: 1_200 }, (_, n) => rowOf(n));
  const view = (name: string, { limit = 0, skip = 0, startKeyDocId = '' }: ViewQuery) => {
    if (name !== 'awake') return Promise.resolve([]);
    const from = rows.filter(({ id }) => id >= startKeyDocId).slice(skip);
    const page = from.slice(0, limit);
    rows = rows.filter(({ id }) => id !== page.at(-1)?.id);
    return Promise.resolve(page);
  };
  const seen: string[] = [];
  await scanDatabase({
    store: {
      rows: (name: string, query: ViewQuery, signal: AbortSignal) =>
        pagesOf((page) => view(name, page), query, createPageSize(500), signal),
    },
    ending: new AbortController(),
    jobs: { review: ({ _id }: StoredDocument) => seen.push(_id) },
    gatherings: { regather: () => Promise.resolve() },
    controls: { replace: () => undefined },
    queueControls: { mark: () => 0, replace: () => false },
    notifyLists: { mark: () => 0, replace: () => false },
    replicas: { many: false },
    serializer: { room: () => Promise.resolve() },
    now: () => 0,
    horizonMs: () => 60_000,
  } as unknown as Assembly);
  expect(new Set(seen).size).toBe(1_200);
  expect(seen).toHaveLength(1_200);
});

it('a scan that finds an announced event rouses the jobs that wait for it', async () => {
  const doc = { _id: 'e', _rev: '1-e', type: 'event', event: 'paid' };
  const [taken, roused]: [string[], string[]] = [[], []];
  const none = async function* () {
    // Nothing else is in the database.
  };
  const engine = {
    store: {
      rows: (name: string) =>
        name === 'due' ? [{ id: 'e', key: 0, value: 'event', doc }] : none(),
      view: async () => [{ id: 'j', key: ['event', 'paid', ''] }],
    },
    ending: new AbortController(),
    gatherings: { regather: () => Promise.resolve() },
    eventTriggers: { take: ({ _id }: StoredDocument) => taken.push(_id) },
    heardEvents: createHeardEvents(),
    jobs: { rouse: (id: string) => roused.push(id) },
    peers: { alive: [] },
    self: { id: 'engine:a' },
    timers: { set: () => undefined },
    replicas: { many: false },
    retry: (ask: () => Promise<unknown>) => ask(),
    serializer: { room: () => Promise.resolve() },
    now: () => 0,
    horizonMs: () => 60_000,
  } as unknown as Assembly;
  for (const part of scanParts) await part(engine);
  await new Promise((resolve) => setImmediate(resolve));
  expect([taken, roused]).toEqual([['e'], ['j']]);
});
