import { afterEach, describe, expect, it, vi } from 'vitest';
import { look, rest, write, type Protocol } from '../../src/decide/copies/protocol.js';
import { drive, type Driver } from '../../src/engine/drive.js';
import type { WriteResult } from '../../src/store/batch.js';

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
      attachment: (id, name, rev) => answer(`attachment ${name} of ${id} at ${rev}`, '{"n":1}'),
    },
    retry: (ask) => ask(),
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
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

  it('takes over attachments of another revision, as far as they are there', async () => {
    const written: object[] = [];
    const store = (text: string | undefined): Driver['store'] => ({
      ...driver().store,
      attachment: async () => text,
      write: async (given) => {
        written.push(given['_attachments'] as object);
        return { kind: 'written', rev: '2-b' };
      },
    });
    const draft = { ...doc, _attachments: { a: { stub: true }, b: { from: '1-x' } } };
    await drive(write(draft), driver({ store: store('{"n":1}') }));
    await drive(write(draft), driver({ store: store(undefined) }));
    const data = Buffer.from('{"n":1}').toString('base64');
    expect(written).toEqual([
      { a: { stub: true }, b: { content_type: 'application/json', data } },
      { a: { stub: true } },
    ]);
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
