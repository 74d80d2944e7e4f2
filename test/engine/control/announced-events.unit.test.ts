import { describe, expect, it } from 'vitest';
import { takeEvent } from '../../../src/engine/control/announced-events.js';
import { createHeardEvents } from '../../../src/engine/control/message.js';
import type { StoredDocument } from '../../../src/model/document.js';

type Row = { readonly id: string; readonly key: readonly [string, string, string] };
type Query = { readonly key?: readonly string[]; readonly startKey?: readonly string[] };

/** What is logged and roused when an event comes while these steps wait. */
async function heard(
  event: object,
  waiting: readonly Row[],
  { isReporter = true, heardEvents = createHeardEvents() } = {},
) {
  const told: [string, string][] = [];
  const roused: string[] = [];
  const asking: Promise<unknown>[] = [];
  const is = (row: Row, key: readonly string[]): boolean =>
    key.every((one, i) => row.key[i] === one);
  const parts = {
    store: {
      view: async (_name: string, { key, startKey = [] }: Query) =>
        waiting.filter((row) => is(row, key ?? startKey)),
    },
    isReporter: () => isReporter,
    heardEvents,
    jobs: { rouse: (id: string) => roused.push(id) },
    retry: (ask: () => Promise<unknown>) => {
      const asked = ask();
      asking.push(asked);
      return asked;
    },
    log: {
      info: (_about: unknown, message: string) => told.push(['info', message]),
      warn: (_about: unknown, message: string) => told.push(['warn', message]),
    },
  };
  const doc = { _id: 'e', _rev: '1-e', type: 'event', ...event } as StoredDocument;
  takeEvent(parts as unknown as Parameters<typeof takeEvent>[0], doc);
  await Promise.all(asking);
  return { told, roused };
}

const waits = (id: string, event: string, key = ''): Row => ({ id, key: ['event', event, key] });

describe('an event', () => {
  it('rouses the jobs that wait for it', async () => {
    const all = [waits('a', 'paid', '42'), waits('b', 'paid', '43')];
    const { told, roused } = await heard({ event: 'paid', key: '42' }, all);
    expect([told, roused]).toEqual([[], ['a']]);
  });

  it.each<[string, object, readonly Row[], string, string]>([
    [
      'nobody waits for',
      { event: 'paid' },
      [waits('a', 'sent')],
      'info',
      'Event e: no job waits for "paid" without a key now; jobs that wait for it later get it.',
    ],
    [
      'a job waits for with a key',
      { event: 'paid' },
      [waits('a', 'paid', '42')],
      'warn',
      'Job a waits for "paid" with the key "42".',
    ],
    [
      'a job waits for without a key',
      { event: 'paid', key: '42' },
      [waits('a', 'paid')],
      'warn',
      'Job a waits for "paid" without a key.',
    ],
  ])('is told when it is one that %s', async (_title, event, waiting, level, sentence) => {
    const { told, roused } = await heard(event, waiting);
    expect(roused).toEqual([]);
    expect(told).toEqual([[level, expect.stringContaining(sentence) as string]]);
  });

  it('is told by one engine only when no job waits for it', async () => {
    const { told } = await heard({ event: 'paid' }, [waits('a', 'paid', '42')], {
      isReporter: false,
    });
    expect(told).toEqual([]);
  });

  it('is taken once, whatever engines write into it', async () => {
    const heardEvents = createHeardEvents();
    const take = async (event: object) =>
      (await heard({ event: 'paid', ...event }, [waits('a', 'paid')], { heardEvents })).roused;
    expect(await take({})).toEqual(['a']);
    expect(await take({})).toEqual([]);
    expect(await take({ _rev: '2-e', triggered: { at: 1 } })).toEqual([]);
    expect(await take({ _rev: '3-e', triggered: { at: 1 }, key: '' })).toEqual(['a']);
    expect(await take({ _rev: '4-e', key: '' })).toEqual(['a']);
  });
});
