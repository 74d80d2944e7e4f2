import { afterEach, describe, expect, it, vi } from 'vitest';
import { resolveConflict } from '../../src/replicas/resolve/conflict.js';
import { look, rest, write, type Protocol } from '../../src/replicas/resolve/protocol.js';
import { runProtocol, type ProtocolPorts } from '../../src/replicas/replicas.js';
import { createLogOnce } from '../../src/engine/log.js';
import type { WriteResult } from '../../src/store/batch.js';
import { attempt, leaf } from './resolve/leaves.js';

afterEach(() => vi.restoreAllMocks());

const doc = { _id: 'j', _rev: '1-a', type: 'job', steps: [], flow: 'f' };
const leaves = [doc, { ...doc, _rev: '2-a' }];

/** Ports whose store answers at once; each answer takes the next of `took` ms. */
function ports(
  more: Partial<ProtocolPorts> = {},
  took: readonly number[] = [],
): ProtocolPorts & Asked {
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
      leaves: (id, copies) => answer(`leaves ${id} of ${copies}`, leaves),
      attachment: (_id, name, of) =>
        answer(`attachment ${name} at ${of?.rev} of ${of?.copies}`, '{"n":1}'),
    },
    retry: (ask) => ask(),
    log: { debug: ignore, info: ignore },
    once: { said: new Map(), log: ignore, stored: ignore },
    giveUp: async () => [],
    life: new AbortController().signal,
    copies: () => 3,
    patienceMs: 100,
    ...more,
  };
}
type Asked = { readonly asked: readonly string[] };
const ignore = (): void => undefined;

describe('a protocol', () => {
  it('runs to its end', async () => {
    const parts = ports();
    const protocol = (function* (): Protocol<unknown> {
      const stored = yield* write(doc);
      yield* rest(-9);
      return [stored, yield* look('j')];
    })();
    const [stored, found] = (await runProtocol(protocol, parts)) as [unknown, unknown];
    expect(stored).toEqual({ kind: 'written', rev: '2-b' });
    expect(found).toEqual([leaves[1], leaves[0]]);
    expect(parts.asked).toEqual(['write _id,_rev,type,flow,steps', 'leaves j of 3']);
  });

  it('says what the database refuses, once', async () => {
    const said: unknown[] = [];
    const { store } = ports();
    const refused = { kind: 'refused', reason: 'A step cannot be changed.' } as const;
    const parts = ports({
      store: { ...store, write: () => Promise.resolve(refused) },
      once: createLogOnce({ info: ignore, error: ignore, warn: (_about, what) => said.push(what) }),
    });
    expect(await runProtocol(write(doc), parts)).toEqual(refused);
    expect(await runProtocol(write(doc), parts)).toEqual(refused);
    expect(said).toEqual([
      'The database refuses a revision of document j: A step cannot be changed.',
    ]);
  });

  it('reads the one copy where there is only one', async () => {
    const parts = ports({ copies: () => 1 });
    expect(await runProtocol(look('j'), parts)).toEqual([doc]);
    const none = ports({ copies: () => 1, store: { ...parts.store, get: async () => undefined } });
    expect(await runProtocol(look('j'), none)).toEqual([]);
  });

  it('does not trust an answer that was long on its way', async () => {
    const slow = ports({}, [101, 0]);
    expect(await runProtocol(write(doc), slow)).toMatchObject({ kind: 'unknown' });
    expect(await runProtocol(write(doc), slow)).toMatchObject({ kind: 'written' });
    const again = ports({}, [101, 101, 101]);
    await runProtocol(look('j'), again);
    expect(again.asked).toHaveLength(3);
  });

  it('takes over attachments of another revision, from all copies', async () => {
    const written: unknown[] = [];
    const parts = ports();
    const store: ProtocolPorts['store'] = {
      ...parts.store,
      write: async (given) => {
        written.push(given['_attachments']);
        return { kind: 'written', rev: '2-b' };
      },
    };
    const draft = { ...doc, _attachments: { a: { stub: true }, b: { from: '1-x' } } };
    expect(await runProtocol(write(draft), { ...parts, store })).toMatchObject({ kind: 'written' });
    const data = Buffer.from('{"n":1}').toString('base64');
    expect(written).toEqual([{ a: { stub: true }, b: { content_type: 'application/json', data } }]);
    expect(parts.asked).toEqual(['attachment b at 1-x of 3']);
  });

  it('keeps a losing revision whose large result cannot be read', async () => {
    const result = { $attachment: 'result-0-1.json', bytes: 70_000 };
    const big = attempt('0#1 $$complete a', { result });
    const _attachments = { 'result-0-1.json': { stub: true } };
    const found = [leaf('4-b', ['0#1 $$active a']), leaf('3-a', [big], { _attachments })];
    const writes: object[] = [];
    const parts = ports();
    const store: ProtocolPorts['store'] = {
      ...parts.store,
      leaves: async () => found,
      attachment: async () => undefined,
      write: async (given) => {
        writes.push(given);
        return { kind: 'written', rev: '5-b' };
      },
    };
    const leaves = await runProtocol(
      resolveConflict('j', () => 'elsewhere'),
      { ...parts, store },
    );
    expect(leaves).toEqual(found);
    expect(writes).toEqual([]);
  });

  it('ends with the engine', async () => {
    const life = AbortSignal.abort();
    const ended = ports({ life, retry: async () => undefined });
    expect(await runProtocol(write(doc), ended)).toMatchObject({ kind: 'unknown' });
    expect(await runProtocol(look('j'), ended)).toBeUndefined();
    await runProtocol(rest(5), ended);
    expect(ended.asked).toEqual([]);
  });
});
