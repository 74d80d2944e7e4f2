import { describe, expect, it } from 'vitest';
import type { PermitAnswer, PermitHolder } from '../../../src/decide/world.js';
import { peer, t0 } from '../../support/builders.js';
import { story, type Setting } from '../story.js';

const key = 'f::DEFAULT';
const holder = (job: string, more: Partial<PermitHolder> = {}): PermitHolder => ({
  ...{ job, at: t0, nonce: `nonce-${job}`, lock: `lock:${job}`, ...more },
});
const held: PermitAnswer = { kind: 'held', ids: ['lock:p'] };
const full: PermitAnswer = { kind: 'full', key, by: [holder('a'), holder('b')] };

const limited = (answer?: PermitAnswer, { flow, world, ...more }: Partial<Setting> = {}) =>
  story({
    steps: ['a'],
    flow: { max_running: 2, ...flow },
    world: { ...(answer === undefined ? {} : { permits: { [key]: answer } }), ...world },
    ...more,
  });

describe('a job of a flow with max_running', () => {
  it('asks for a permit before anything of it begins', () => {
    expect(limited().decide()).toMatchObject({
      ...{
        kind: 'acquire',
        locks: [],
        permits: [{ id: key, wants: [{ key, most: 2, strategy: 'queue' }] }],
      },
      rule: 'permit',
    });
  });

  it('begins with it, and keeps it in mind', () => {
    expect(limited(held).decide()).toMatchObject({
      kind: 'claim',
      job: { locked: { permit: 'lock:p' } },
    });
  });

  it('takes one in its turn', () => {
    const told = limited(undefined, { world: { peers: [peer(['a'])], seenAt: t0 } });
    const kinds = [told.decide().kind, told.with({ id: 'zz' }).decide().kind];
    expect(kinds.toSorted()).toEqual(['acquire', 'wait']);
  });

  it('waits as a new job while as many run as may', () => {
    const intent = limited(full).decide();
    expect(intent).toMatchObject({ kind: 'wait', for: 'permit', lines: [{ key, most: 2 }] });
    expect(intent).toHaveProperty(
      'because',
      'All permits of "max_running" of flow f are taken (2): a, b.',
    );
  });

  it('waits for a permit, too, while others go first to those that are free', () => {
    const intent = limited({ kind: 'behind', key, by: ['x', 'y'] }).decide();
    expect(intent).toMatchObject({
      kind: 'wait',
      because: 'It waits for a permit of "max_running" of flow f; earlier jobs are ahead (2).',
      for: 'permit',
      lines: [{ key, by: [] }],
    });
  });

  it('still expires while it waits', () => {
    const expires = new Date(t0 + 500).toISOString();
    expect(limited(full, { job: { expires } }).decide()).toMatchObject({
      kind: 'write',
      job: { state: '$$ready' },
    });
  });

  it('ends when the store takes no such document', () => {
    const intent = limited({ kind: 'refused', reason: 'No.' }).decide();
    expect(intent).toMatchObject({
      kind: 'write',
      job: { exit: 3, failure: { name: 'StoreRefused' } },
    });
  });

  it.each([
    [
      'goes on as a new one and had one',
      { job: { continued_from: 'x', locked: { permit: 'lock:q' } } },
      true,
    ],
    ['is of a flow without', { flow: { max_running: undefined } }, false],
  ])('that %s', (_title, setting, asks) => {
    const intent = limited(undefined, setting).decide();
    expect(intent.kind === 'acquire' && intent.permits.length > 0).toBe(asks);
  });
});

describe('the time for which a job waits for a permit', () => {
  const held5s = { permits: { [key]: held }, locks: {} };

  it('is no time of a flow that has not begun', () => {
    const told = limited(full, { job: { target: 'x' }, flow: { timeout: 1_000 } });
    told.go();
    // The job gets its permit while no engine has its plugin. Its time to be served begins only now.
    told
      .at(5_000)
      .with({ ...held5s, plugins: [] })
      .go();
    expect(told.at(5_999).go()).toMatchObject({ kind: 'wait' });
    told.at(6_000).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'NotServed' });
  });

  it('is no time of a flow that is retried', () => {
    const told = limited(held, { flow: { timeout: 1_000 } });
    told.go();
    told
      .broke('a')
      .at(100)
      .edit({ retry: true })
      .with({ permits: { [key]: full } });
    told.go();
    expect(told.go()).toMatchObject({ kind: 'wait', for: 'permit' });
    told.at(5_000).with(held5s);
    expect(told.go()).toMatchObject({ kind: 'claim' });
    expect(told.job).toMatchObject({ held_ms: 4_900 });
  });
});
