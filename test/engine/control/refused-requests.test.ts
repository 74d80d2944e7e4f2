import { describe, expect, it } from 'vitest';
import { explainJob } from '../../../src/client/explain-job.js';
import { jobHistory } from '../../../src/client/history.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { flow, job } from '../../support/documents.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const waiting = flow('w', [{ wait: { signal: 'go' } }, { wait: { signal: 'end' } }]);
const request = (_id: string, more: object) => ({ _id, type: 'request', by: 'ann', ...more });

type Refusal = { readonly id: string; readonly refused?: string };

const refusalsIn = (doc: StoredDocument): readonly Refusal[] =>
  ((doc['requests'] ?? []) as readonly Refusal[]).filter(({ refused }) => refused !== undefined);

/** A job that waits for a signal, with an engine. */
async function open(): Promise<Workspace> {
  const space = await openWorkspace();
  await space.put(waiting, job('w', { _id: 'j' }));
  await space.engine({ sweepMs: 200 });
  await space.until('j', ({ state }) => state === 'wait-0');
  return space;
}

describe('R1: a request that cannot be applied', () => {
  it('is on record in the live job, in its history and in explain', async () => {
    const space = await open();
    await space.put(
      request('r1', { job: 'j', action: 'skip', step: 'nowhere' }),
      request('r2', { job: 'j', action: 'retry' }),
      request('r3', { job: 'j', action: 'note' }),
    );
    const told = await space.until('j', (doc) => refusalsIn(doc).length === 3);
    expect(told).toMatchObject({ state: 'wait-0' });
    const by = Object.fromEntries(refusalsIn(told).map(({ id, refused }) => [id, refused]));
    expect(by['r1']).toMatch(/has no step "nowhere"/);
    expect(by['r2']).toMatch(/has not ended/);
    expect(by['r3']).toMatch(/needs "text"/);
    const kinds = (await jobHistory(space.store, 'j')).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'RequestRefused')).toHaveLength(3);
    const { reasons } = await explainJob(space.store, 'j');
    expect(reasons.map(({ kind }) => kind)).toEqual(['waiting', 'refused', 'refused', 'refused']);
  });

  it('is on record in the final job, whose end stays as it was', async () => {
    const space = await open();
    await space.put(request('c', { job: 'j', action: 'cancel' }));
    const { _rev: _before, ...ended } = await space.ended('j');
    await space.put(request('late', { job: 'j', action: 'pause' }), {
      _id: 's',
      type: 'signal',
      job: 'j',
      name: 'go',
    });
    const told = await space.until('j', (doc) => refusalsIn(doc).length === 2);
    const { _rev, requests, ...kept } = told;
    expect({ ...kept, requests: (requests as unknown[]).slice(0, 1) }).toEqual(ended);
  });

  it('stays as a refused document when there is no such job, and is not looked at again', async () => {
    const space = await open();
    await space.put(
      request('none', { job: 'nobody', action: 'cancel' }),
      request('flow', { job: 'flow:me:w', action: 'cancel' }),
    );
    const none = await space.until('none', ({ refused }) => refused !== undefined);
    const flowed = await space.until('flow', ({ refused }) => refused !== undefined);
    expect(none).toMatchObject({ refused: 'There is no job nobody.', by: 'ann' });
    expect(flowed).toMatchObject({ refused: 'Document flow:me:w is no job.' });
    expect(await space.store.view('requests', {})).toEqual([]);
    await space.put({ _id: 'g', type: 'signal', job: 'j', name: 'go' });
    await space.until('j', ({ state }) => state === 'wait-1');
    expect(await space.store.get('none')).toEqual(none);
  });
});
