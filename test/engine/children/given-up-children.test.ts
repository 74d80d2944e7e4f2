import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../../src/model/document.js';
import { explainJob } from '../../../src/client/explain-job.js';
import { jobHistory } from '../../../src/client/history.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const waits = { wait: { signal: 'x' } };

function flow(name: string, tasks: readonly unknown[]) {
  return { _id: `flow:me:${name}`, type: 'flow', name, owner: 'me', tasks, timeout: 0 };
}

/** The child for which a step of the parent waits in this run. */
function childOf(doc: StoredDocument, run: number): string | undefined {
  const steps = (doc['steps'] ?? []) as readonly Readonly<Record<string, unknown>>[];
  const waiting = steps.findLast((step) => step['state'] === '$$waiting' && 'child' in step);
  return doc['run'] === run ? (waiting?.['child'] as string | undefined) : undefined;
}

function cancelledIn(run: number): (doc: StoredDocument) => boolean {
  return (doc) => doc['state'] === '$$cancelled' && doc['run'] === run;
}

/** A slice whose own child is cancelled before it ends with that child's exit. */
function givenUpIn(run: number): (doc: StoredDocument) => boolean {
  return (doc) => doc['exit'] === 130 && doc['run'] === run;
}

/** Waits until a child waits for its signal in its run. */
async function begun(space: Workspace, child: string, run: number): Promise<void> {
  await space.until(child, ({ run: own, steps }) => {
    return own === run && JSON.stringify(steps ?? []).includes('"$$waiting"');
  });
}

describe('a job that is cancelled, retried and cancelled again', () => {
  it.each([
    ['a child', [{ flow: 'c' }]],
    ['a slice', [{ map: { over: [1, 2, 3], slice: 2, do: { flow: 'c' } } }]],
  ])('cancels %s again', async (_title, tasks) => {
    const space = await openWorkspace();
    await space.put(flow('c', [waits]), flow('p', tasks));
    await space.engine();
    await space.put({ _id: 'p', type: 'job', flow: 'p', owner: 'me' });
    for (const run of [1, 2]) {
      const parent = await space.until('p', (doc) => childOf(doc, run) !== undefined);
      const child = String(childOf(parent, run));
      await begun(space, child, run);
      await space.put({ _id: `cancel-${run}`, type: 'request', job: 'p', action: 'cancel' });
      await space.until('p', cancelledIn(run));
      await space.until(child, givenUpIn(run));
      await space.put({ _id: `retry-${run}`, type: 'request', job: 'p', action: 'retry' });
    }
  });
});

describe('a job that cannot be read any more', () => {
  it('has a child that is made later come up cancelled', async () => {
    const space = await openWorkspace();
    await space.put(flow('c', [waits]));
    const step = {
      ...{ index: 0, path: '0', name: 'c', task: 'c', attempt: 1, run: 1, phase: 'main' },
      ...{ state: '$$waiting', child: 'p:0:1', accepted: 5, start: 5 },
    };
    const job = {
      type: 'job',
      flow: 'p',
      owner: 'me',
      state: 'c-0',
      start: 5,
      run: 'none',
      steps: [step],
    };
    await space.put({ _id: 'p', ...job });
    await space.engine();
    expect(await space.ended('p')).toMatchObject({ exit: 3 });
    // Whoever was about to make the child meets a conflict.
    expect(await space.ended('p:0:1')).toMatchObject({ state: '$$cancelled', exit: 130 });
    expect(await space.store.range('request:')).toEqual([]);
  });
});

describe('a job whose record was changed by hand', () => {
  it.each([
    ['start', () => ({ start: 'none' })],
    ['start, to a later time', () => ({ start: 9e15, run: 'none' })],
    [
      'steps',
      ({ steps }: StoredDocument) => ({
        steps: (steps as { child: unknown }[]).map(({ child: _child, ...rest }) => rest),
        run: 'none',
      }),
    ],
  ])('gives up its children when it ends for its %s', async (_title, spoilt) => {
    const space = await openWorkspace();
    await space.put(flow('c', [waits]), flow('p', [{ parallel: [{ flow: 'c' }, { flow: 'c' }] }]));
    await space.engine();
    await space.put({ _id: 'p', type: 'job', flow: 'p', owner: 'me' });
    const made = ['p:0.parallel.0:1', 'p:0.parallel.1:1'];
    for (const child of made) await begun(space, child, 1);
    const doc = (await space.store.get('p')) as StoredDocument;
    await space.put({ ...doc, ...spoilt(doc) });
    expect(await space.ended('p')).toMatchObject({ exit: 3 });
    for (const child of made) expect(await space.ended(child)).toMatchObject({ exit: 130 });
  });
});

describe('a child that cannot be cancelled', () => {
  it.each([
    [
      'the cancel request to it',
      `function (doc) { if (doc.type === 'request' && doc.job === 'p:0:1') throw { forbidden: 'not this one' }; }`,
    ],
    [
      'its cancelled document',
      `function (doc) { if (doc._id === 'p:0:1' && doc.cancel) throw { forbidden: 'not this one' }; }`,
    ],
  ])('is named in its parent where the database refuses %s', async (_title, rule) => {
    const space = await openWorkspace();
    await space.put(flow('c', [waits]), flow('p', [{ flow: 'c' }]));
    await space.engine();
    await space.put({ _id: 'p', type: 'job', flow: 'p', owner: 'me' });
    await begun(space, 'p:0:1', 1);
    await space.put({ _id: '_design/rule', language: 'javascript', validate_doc_update: rule });
    await space.put({ _id: 'cancel', type: 'request', job: 'p', action: 'cancel' });
    const because = 'Child job p:0:1 cannot be cancelled and may go on: ';
    const parent = await space.until('p', ({ state, requests }) => {
      return state === '$$cancelled' && JSON.stringify(requests).includes(because);
    });
    expect(JSON.stringify(parent['requests'])).toContain('not this one');
    const { reasons } = await explainJob(space.store, 'p');
    expect(reasons.map((reason) => reason.because).join(' ')).toContain(because);
    const events = await jobHistory(space.store, 'p');
    expect(JSON.stringify(events)).toContain('RequestRefused');
    expect(await space.store.get('p:0:1')).not.toHaveProperty('end');
  });
});
