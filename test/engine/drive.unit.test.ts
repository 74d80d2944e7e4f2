import { afterEach, describe, expect, it, vi } from 'vitest';
import { healed } from '../../src/decide/copies/heal.js';
import { look, rest, write, type Protocol } from '../../src/decide/copies/protocol.js';
import { drive, type Driver } from '../../src/engine/drive.js';
import { createOnce } from '../../src/engine/once.js';
import type { WriteResult } from '../../src/store/batch.js';
import { attempt, tip } from '../decide/copies/tips.js';

afterEach(() => vi.restoreAllMocks());

const doc = { _id: 'j', _rev: '1-a', type: 'job', steps: [], flow: 'f' };
const tips = [doc, { ...doc, _rev: '2-a' }];

/** A driver whose store answers at once; each answer takes the next of `took` ms. */
function driver(more: Partial<Driver> = {}, took: readonly number[] = []): Driver & Asked {
  let now = 0;
  const asked: string[] = [];
  const waits = [...took];
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const answer = <T>(what: string, value: T): Promise<T> => {
    asked.push(what);
    now += waits.shift() ?? 0;
    return Promise.resolve(value);
  };
  const written: WriteResult = { kind: 'written', rev: '2-b' };
  return {
    asked,
    store: {
      write: (given) => answer(`write ${Object.keys(given).join()}`, written),
      get: (id) => answer(`get ${id}`, doc),
      tips: (id, copies) => answer(`tips ${id} of ${copies}`, tips),
      attachment: (_id, name, of) =>
        answer(`attachment ${name} at ${of?.rev} of ${of?.copies}`, '{"n":1}'),
    },
    retry: (ask) => ask(),
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    once: { tell: ignore, stored: ignore },
    life: new AbortController().signal,
    copies: () => 3,
    patienceMs: 100,
    ...more,
  };
}
type Asked = { readonly asked: readonly string[] };
const ignore = (): void => undefined;

describe('a protocol', () => {
  it('is driven to its end', async () => {
    const parts = driver();
    const protocol = (function* (): Protocol<unknown> {
      const stored = yield* write(doc);
      yield* rest(-9);
      return [stored, yield* look('j')];
    })();
    const [stored, found] = (await drive(protocol, parts)) as [unknown, unknown];
    expect(stored).toEqual({ kind: 'written', rev: '2-b' });
    expect(found).toEqual([tips[1], tips[0]]);
    expect(parts.asked).toEqual(['write _id,_rev,type,flow,steps', 'tips j of 3']);
  });

  it('says what the database refuses, once', async () => {
    const said: unknown[] = [];
    const { store, log } = driver();
    const refused = { kind: 'refused', reason: 'A step cannot be changed.' } as const;
    const parts = driver({
      store: { ...store, write: () => Promise.resolve(refused) },
      once: createOnce({ ...log, warn: (_about: unknown, what?: string) => said.push(what) }),
    });
    expect(await drive(write(doc), parts)).toEqual(refused);
    expect(await drive(write(doc), parts)).toEqual(refused);
    expect(said).toEqual([
      'The database refuses a revision of document j: A step cannot be changed.',
    ]);
  });

  it('reads the one copy where there is only one', async () => {
    const parts = driver({ copies: () => 1 });
    expect(await drive(look('j'), parts)).toEqual([doc]);
    const none = driver({ copies: () => 1, store: { ...parts.store, get: async () => undefined } });
    expect(await drive(look('j'), none)).toEqual([]);
  });

  it('does not trust an answer that was long on its way', async () => {
    const slow = driver({}, [101, 0]);
    expect(await drive(write(doc), slow)).toMatchObject({ kind: 'unknown' });
    expect(await drive(write(doc), slow)).toMatchObject({ kind: 'written' });
    const again = driver({}, [101, 101, 101]);
    await drive(look('j'), again);
    expect(again.asked).toHaveLength(3);
  });

  it('takes over attachments of another revision, from all copies', async () => {
    const written: unknown[] = [];
    const parts = driver();
    const store: Driver['store'] = {
      ...parts.store,
      write: async (given) => {
        written.push(given['_attachments']);
        return { kind: 'written', rev: '2-b' };
      },
    };
    const draft = { ...doc, _attachments: { a: { stub: true }, b: { from: '1-x' } } };
    expect(await drive(write(draft), { ...parts, store })).toMatchObject({ kind: 'written' });
    const data = Buffer.from('{"n":1}').toString('base64');
    expect(written).toEqual([{ a: { stub: true }, b: { content_type: 'application/json', data } }]);
    expect(parts.asked).toEqual(['attachment b at 1-x of 3']);
  });

  it('keeps a losing revision whose large result cannot be read', async () => {
    const result = { $attachment: 'result-0-1.json', bytes: 70_000 };
    const big = attempt('0#1 $$complete a', { result });
    const _attachments = { 'result-0-1.json': { stub: true } };
    const found = [tip('4-b', ['0#1 $$active a']), tip('3-a', [big], { _attachments })];
    const writes: object[] = [];
    const parts = driver();
    const store: Driver['store'] = {
      ...parts.store,
      tips: async () => found,
      attachment: async () => undefined,
      write: async (given) => {
        writes.push(given);
        return { kind: 'written', rev: '5-b' };
      },
    };
    const tips = await drive(
      healed('j', () => 'elsewhere'),
      { ...parts, store },
    );
    expect(tips).toEqual(found);
    expect(writes).toEqual([]);
  });

  it('ends with the engine', async () => {
    const life = AbortSignal.abort();
    const ended = driver({ life, retry: async () => undefined });
    expect(await drive(write(doc), ended)).toMatchObject({ kind: 'unknown' });
    expect(await drive(look('j'), ended)).toBeUndefined();
    await drive(rest(5), ended);
    expect(ended.asked).toEqual([]);
  });
});
