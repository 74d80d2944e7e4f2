import type { DeciderParts } from '../../../src/engine/loop/decision.js';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/decide/decide.js';
import type { Intent } from '../../../src/decide/intent.js';
import { explainJob } from '../../../src/client/explain-job.js';
import { jobHistory } from '../../../src/client/history.js';
import { writesBetween } from '../../../src/engine/loop/serializer.js';
import { allMeters } from '../../../src/metrics/all.js';
import type { Job } from '../../../src/model/job.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const definitions = [
  { _id: 'task:noop', type: 'task', name: 'noop' },
  { _id: 'flow:f', type: 'flow', name: 'f', owner: 'me', tasks: ['noop'] },
] as const;
const job = (_id: string) => ({ _id, type: 'job', flow: 'f', owner: 'me' });

/** A job that ran to its end beside others proves that the engine still works. */
async function works(space: Workspace): Promise<void> {
  const [id] = await space.put({ ...job(crypto.randomUUID()) });
  expect(await space.ended(String(id))).toMatchObject({ exit: 0 });
}

async function edit(space: Workspace, id: string, change: Record<string, unknown>): Promise<void> {
  const doc = await space.store.get(id);
  const { kind } = await space.store.write({ ...(doc as StoredDocument), ...change });
  expect(kind).toBe('written');
}

describe('a job about which nothing can be decided', () => {
  const rule =
    (bad: (job: Job) => Intent): NonNullable<DeciderParts['rule']> =>
    (given, now, world) =>
      given._id === 'bad' ? bad(given) : decide(given, now, world);

  it('ends with exit 3 and names the fault when the decision throws', async () => {
    const space = await openWorkspace();
    await space.put(...definitions, job('bad'));
    await space.engine({
      rule: rule(() => {
        throw new TypeError('path.includes is not a function');
      }),
    });
    expect(await space.ended('bad')).toMatchObject({
      exit: 3,
      failure: {
        name: 'DecisionFault',
        message: expect.stringContaining('TypeError: path.includes is not a function') as string,
      },
    });
    await works(space);
  });

  it('is stopped when engines write it again and again without getting on', async () => {
    const space = await openWorkspace();
    await space.put(...definitions, job('bad'));
    let round = 0;
    const endless = rule((given) => {
      round += 1;
      return { kind: 'write', job: { ...given, round } as Job };
    });
    await space.engine({ rule: endless });
    await space.engine({ rule: endless });
    const ended = await space.ended('bad');
    expect(ended).toMatchObject({ exit: 3, failure: { name: 'DecisionLoop' } });
    expect(writesBetween('0', ended._rev)).toBeLessThan(60);
    await works(space);
    await works(space);
    expect(await space.store.get('bad')).toEqual(ended);
  });
});

describe('a wish in a final job', () => {
  it('that is mistyped is refused beside the end, which stays as it was', async () => {
    const space = await openWorkspace();
    await space.put(...definitions);
    const wishes = ['true', 1, [], { from: 5 }];
    const ids = await space.put(...wishes.map((_wish, i) => job(`typo-${i}`)));
    const engine = await space.engine();
    const ends = await Promise.all(ids.map((id) => space.ended(id)));
    for (const [i, id] of ids.entries()) await edit(space, id, { retry: wishes[i] });
    for (const [i, id] of ids.entries()) {
      const told = await space.until(id, (doc) => doc['retry_refused'] !== undefined);
      const { _rev: before, ...end } = ends[i] as StoredDocument;
      const { _rev: after, retry_refused: refused, requests, ...kept } = told;
      expect(kept).toEqual(end);
      expect(requests).toMatchObject([{ action: 'retry', refused }]);
      expect(writesBetween(before, after)).toBe(2);
    }
    await works(space);
    await engine.stop();
  });

  it('to pause or cancel it is refused beside the end, also when no engine ran', async () => {
    const space = await openWorkspace();
    await space.put(...definitions, job('j'));
    const first = await space.engine();
    const { _rev: before, ...end } = await space.ended('j');
    await first.stop();
    await edit(space, 'j', { paused: true, cancel: { by: 'ann' } });
    await space.engine();
    const told = await space.until('j', ({ requests }) => requests !== undefined);
    const { _rev: after, requests, ...kept } = told;
    expect(kept).toEqual(end);
    const refused = 'Job j is final already.';
    const wishes = [{ action: 'pause' }, { action: 'cancel', by: 'ann' }];
    expect(requests).toMatchObject(wishes.map((wish) => ({ ...wish, refused })));
    expect(writesBetween(before, after)).toBe(2);
    const { reasons } = await explainJob(space.store, 'j');
    expect(reasons.map(({ kind }) => kind)).toEqual(['ended', 'refused', 'refused']);
    const kinds = (await jobHistory(space.store, 'j')).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'RequestRefused')).toHaveLength(2);
  });

  it('that was written while no engine ran is granted by the next one', async () => {
    const space = await openWorkspace();
    await space.put(...definitions, job('j'));
    const first = await space.engine();
    await space.ended('j');
    await first.stop();
    await edit(space, 'j', { retry: { from: 'noop' } });
    await space.engine();
    await space.until('j', (doc) => doc['run'] === 2 && doc['state'] === '$$complete');
  });
});

describe('a new job with anything in the fields that engines write', () => {
  it.each([
    ['slice', {}],
    ['slice', []],
    ['slice', 'x'],
    ['signals', {}],
    ['locked', 5],
    ['parent', 'x'],
  ])('comes to an end: %s %j', async (key, value) => {
    const space = await openWorkspace();
    await space.put(...definitions, { ...job('odd'), [key]: value });
    await space.engine();
    const ended = await space.ended('odd');
    if (key === 'slice') {
      expect(ended).toMatchObject({ exit: 3, failure: { name: 'InvalidJob' } });
      expect(ended.failure?.message).toContain('slice must be left out of a new job');
    }
  });
});

describe('a pause that somebody writes into a live job', () => {
  it('is on record once, as is its end, with two engines', async () => {
    const space = await openWorkspace();
    const tasks = [{ wait: { signal: 'go' } }, 'noop'];
    const waiting = { type: 'flow', name: 'w', owner: 'DEFAULT', tasks };
    await space.put(...definitions, waiting, { _id: 'j', type: 'job', flow: 'w' });
    await space.engine();
    await space.engine();
    await space.until('j', ({ state }) => state === 'wait-0');
    await edit(space, 'j', { paused: true });
    await space.until('j', ({ state }) => state === '$$paused');
    await edit(space, 'j', { paused: false });
    await space.until('j', ({ state }) => state === 'wait-0');
    await space.put({ type: 'signal', job: 'j', name: 'go' });
    const { requests } = await space.ended('j');
    expect(requests).toMatchObject([
      { action: 'pause', edited: true },
      { action: 'resume', edited: true },
    ]);
  });
});

it('an attempt that cannot be started fails, and the job goes on by its retry policy', async () => {
  const space = await openWorkspace();
  const tasks = [{ task: 'noop', retry: 1 }];
  await space.put(definitions[0], { ...definitions[1], tasks }, job('j'));
  let begun = 0;
  const attempt = () => {
    begun += 1;
    if (begun === 1) throw new Error('The meter is broken.');
    return undefined;
  };
  await space.engine({ slots: 1, meters: allMeters([{ attempt }]) });
  expect(await space.ended('j')).toMatchObject({
    exit: 0,
    steps: [{ state: '$$error', failure: { name: 'AttemptFailed' } }, { state: '$$complete' }],
  });
});

describe('a retry that somebody writes into a live job', () => {
  it('is refused at once, and not granted at the end', async () => {
    const space = await openWorkspace();
    const tasks = [{ wait: { signal: 'go' } }, 'noop'];
    const waiting = { type: 'flow', name: 'w', owner: 'DEFAULT', tasks };
    await space.put(...definitions, waiting, { _id: 'j', type: 'job', flow: 'w' });
    await space.engine();
    await space.until('j', ({ state }) => state === 'wait-0');
    await edit(space, 'j', { retry: { from: 'wait' } });
    const told = await space.until('j', ({ requests }) => requests !== undefined);
    const refused = 'Job j has not ended; only a job that has ended can be retried.';
    expect(told['requests']).toMatchObject([{ action: 'retry', from: 'wait', refused }]);
    expect(told).not.toHaveProperty('retry');
    await space.put({ type: 'signal', job: 'j', name: 'go' });
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 0, run: 1 });
    expect(ended).not.toHaveProperty('retry_refused');
  });
});
