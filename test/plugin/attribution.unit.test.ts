import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type * as Attributions from '../../src/plugin/attribution.js';

/** Each test follows nothing when it begins. */
let attributions: typeof Attributions;
beforeEach(async () => {
  vi.resetModules();
  attributions = await import('../../src/plugin/attribution.js');
});

const attribution = { plugin: 'a', file: '/a.mjs', about: { job: 'j' }, fail: () => false };
const others = Promise.resolve();

/** Whose the code is that runs after `begin`, which is called as a plugin's function. */
async function seenAfter(begin: (look: () => void) => unknown): Promise<unknown> {
  const { attributionOf, callerFor } = attributions;
  let seen: unknown = 'nobody looked';
  const answer: unknown = callerFor(attribution)(() => begin(() => (seen = attributionOf())));
  await answer;
  await vi.waitFor(() => expect(seen).not.toBe('nobody looked'));
  return seen;
}

describe('on whose behalf code runs', () => {
  it.each<[string, (look: () => void) => unknown]>([
    ['the call itself', (look) => look()],
    ['what comes after an await', async (look) => (await Promise.resolve(), look())],
    ['a timer', (look) => void setTimeout(look, 0)],
    ['an immediate', (look) => void setImmediate(look)],
    ['a microtask', (look) => queueMicrotask(look)],
    ['a tick', (look) => process.nextTick(look)],
    [
      'a query that begins when it is waited for',
      (look) => ({ then: (done: () => void) => (look(), done()) }),
    ],
    [
      'such a query of an async function',
      async (look) => ({ then: (done: () => void) => (look(), done()) }),
    ],
    ['what follows a promise of somebody else', (look) => others.then(look)],
    ['a timer that is returned', (look) => setTimeout(look, 0)],
    ['a promise that nobody waits for', (look) => void Promise.resolve().then(look)],
    [
      'a promise beside the one that is returned',
      (look) => {
        void Promise.resolve().then(look);
        return Promise.resolve();
      },
    ],
    [
      'what is begun before the function throws',
      (look) => {
        setImmediate(look);
        return Promise.reject(new Error('thrown')).catch(() => undefined);
      },
    ],
  ])('is known in %s', async (_what, begin) => {
    expect(await seenAfter(begin)).toBe(attribution);
  });

  it('is known of what is begun by a call that throws', async () => {
    const { attributionOf, callerFor } = attributions;
    let seen: unknown;
    const call = (): never => {
      setImmediate(() => (seen = attributionOf()));
      throw new Error('at once');
    };
    expect(() => callerFor(attribution)(call)).toThrow('at once');
    await turn();
    await turn();
    expect(seen).toBe(attribution);
  });

  it('is nobody’s after the call', async () => {
    const { attributionOf, callerFor } = attributions;
    await callerFor(attribution)(() => Promise.resolve());
    expect(attributionOf()).toBeUndefined();
  });

  it('is a plugin, but none of its attempts, where several of them may have made an error', () => {
    const { attributionOf, trackAttribution } = attributions;
    const error = Object.assign(new Error('x'), { stack: 'Error: x\n at /a.mjs:1:1' });
    const forget = [attribution, { ...attribution, about: { job: 'k' } }].map(trackAttribution);
    const found = attributionOf(error);
    expect(found).toMatchObject({ plugin: 'a', about: { plugin: 'a' } });
    expect(found?.fail({} as never)).toBe(false);
    forget[0]?.();
    expect(attributionOf(error)?.about).toEqual({ job: 'k' });
    const other = trackAttribution({ ...attribution, plugin: 'b' });
    expect(attributionOf(error)).toBeUndefined();
    for (const end of [...forget, other]) end();
  });

  it('is the engine’s in what the engine does for a plugin', () => {
    const { attributionOf, callerFor, onOwnBehalf } = attributions;
    const seen = callerFor(attribution)(() => onOwnBehalf(() => attributionOf()));
    expect(seen).toBeUndefined();
  });
});
