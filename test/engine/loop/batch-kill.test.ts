import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Engine } from '../../../src/engine/engine.js';
import { endingAt } from '../../support/ending.js';
import { openWorkspace } from '../../support/workspace.js';

/** Leaves a line with its key; asked again after a crash it recognises what it has done. */
const once = `
import { appendFileSync, readFileSync } from 'node:fs';
const done = (cwd, key) => readFileSync(cwd + '/witness.log', 'utf8').split('\\n').includes(key);
export const verify = ({ cwd, key }) => (done(cwd, key) ? { done: 'found' } : undefined);
export default ({ cwd, key, params }) => {
  if (params.fail) throw new Error('no');
  appendFileSync(cwd + '/witness.log', key + '\\n');
  return 'did';
};`;

const flow = {
  _id: 'flow:me:f',
  type: 'flow',
  name: 'f',
  owner: 'me',
  timeout: 0,
  tasks: [
    {
      batch: ['once', { task: 'once', name: 'bad', params: { fail: true } }],
      on_failure: { task: 'once', name: 'failed' },
      on_success: { task: 'once', name: 'succeeded' },
      on_complete: { task: 'once', name: 'completed' },
    },
  ],
};

const leases = { leaseMs: 600, renewMs: 100, sweepMs: 500 };

// Shows F-07.
it.each([1, 2, 3, 4, 5].flatMap((at) => [[at, 'before'] as const, [at, 'after'] as const]))(
  'an engine that dies at write %i of a batch (%s it is stored) leaves callbacks that run once',
  async (at, when) => {
    const space = await openWorkspace({ 'once.mjs': once });
    await writeFile(join(space.folder, 'witness.log'), '');
    await space.put({ _id: 'task:DEFAULT:once', type: 'task', name: 'once' }, flow);
    let first: Engine | undefined = undefined as Engine | undefined;
    const end = async (): Promise<void> => first?.kill();
    const ending = endingAt(space.store, at, when, end);
    first = await space.engine({ ...leases, store: ending.store });
    await space.put({ _id: 'j', type: 'job', flow: 'f', owner: 'me' });
    // The ends of two steps that run beside each other go into one revision, if they come together.
    await (at < 4 ? ending.reached : Promise.race([ending.reached, space.ended('j')]));
    await space.engine(leases);
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ state: '$$complete', exit: 2 });
    const callbacks = ended.steps
      .filter((step) => step['phase'] === 'callback' && step.state === '$$complete')
      .map((step) => step['name']);
    expect(callbacks).toEqual(['failed', 'completed']);
    const effects = (await readFile(join(space.folder, 'witness.log'), 'utf8')).trim().split('\n');
    expect(effects.toSorted()).toEqual(['j:0.batch.0', 'j:0.on_complete', 'j:0.on_failure']);
  },
);
