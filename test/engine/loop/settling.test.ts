import type { DeciderParts } from '../../../src/engine/loop/decision.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/decide/decide.js';
import type { Intent } from '../../../src/decide/intent.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { openStore, type Store } from '../../../src/store/store.js';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

/** A plugin that writes a line into a file each time that it runs. */
const counting = `import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
const file = join(fileURLToPath(new URL('.', import.meta.url)), 'runs');
export default () => { appendFileSync(file, 'x'); return 'fine'; };`;

async function open(): Promise<Workspace> {
  const space = await openWorkspace({ 'count.mjs': counting });
  await space.put(task('count', { retry: 3 }), flow('f', ['count']), job('f', { _id: 'j' }));
  return space;
}

async function runs({ folder }: Workspace): Promise<number> {
  return (await readFile(join(folder, 'runs'), 'utf8')).length;
}

/** No attempt of the job is under way, but one has ended: its outcome is about to be written. */
function isSettled(given: object): boolean {
  const { steps = [] } = given as { readonly steps?: readonly { readonly state: string }[] };
  return steps.some(({ state }) => state === '$$complete');
}

/** An intent with which nothing can be done: whatever reads its job throws. */
const broken = { kind: 'write', job: null } as unknown as Intent;

describe('E6: the outcome of an attempt that has ended', () => {
  it.each([
    ['once', 1],
    ['always', Infinity],
  ])('is written without another run when what follows throws %s', async (_title, most) => {
    const space = await open();
    let times = 0;
    const rule: DeciderParts['rule'] = (given, now, world) => {
      // A job that was just settled is decided upon without a delay.
      if (world.seenAt !== -Infinity || times >= most) return decide(given, now, world);
      times += 1;
      return broken;
    };
    await space.engine({ rule });
    const steps = [{ state: '$$complete', result: 'fine' }];
    expect(await space.ended('j')).toMatchObject({ exit: 0, steps });
    expect(times).toBe(1);
    expect(await runs(space)).toBe(1);
  });

  it.each([
    ['once', 1, { exit: 0 }],
    ['always', Infinity, { exit: 3, failure: { name: 'DecisionFault' } }],
  ])('is not run again when storing it throws %s', async (_title, most, end) => {
    const space = await open();
    let times = 0;
    const store = openStore(space.store.connection);
    const write: Store['write'] = (doc, limit) => {
      if (doc._id === 'j' && isSettled(doc) && (times += 1) <= most) {
        throw new TypeError('no room for the document');
      }
      return store.write(doc, limit);
    };
    await space.engine({ store: { ...store, write } });
    expect(await space.ended('j')).toMatchObject(end);
    expect(await runs(space)).toBe(1);
  });

  it('is not run again when somebody writes the job while it ends for a fault', async () => {
    const space = await open();
    let times = 0;
    const store = openStore(space.store.connection);
    const write: Store['write'] = async (doc, limit) => {
      if (doc._id === 'j' && isSettled(doc)) throw new TypeError('no room for the document');
      if (doc._id === 'j' && doc['exit'] === 3 && (times += 1) === 1) {
        await store.write({ ...((await store.get('j')) as StoredDocument), note: 'by hand' });
      }
      return store.write(doc, limit);
    };
    await space.engine({ store: { ...store, write } });
    expect(await space.ended('j')).toMatchObject({ exit: 3, note: 'by hand' });
    expect(await runs(space)).toBe(1);
  });
});

describe('a decision that cannot be written', () => {
  it('ends the job with exit 3 and the reason', async () => {
    const space = await open();
    await space.engine({
      rule: (given, ...rest) => (given._id === 'j' ? broken : decide(given, ...rest)),
    });
    const failure = {
      name: 'DecisionFault',
      message: expect.stringContaining('TypeError') as string,
    };
    expect(await space.ended('j')).toMatchObject({ exit: 3, failure });
  });

  it('is written when what was thrown has passed', async () => {
    const space = await open();
    let times = 0;
    const store = openStore(space.store.connection);
    const write: Store['write'] = (doc, limit) => {
      if (doc._id === 'j' && (times += 1) === 1) throw new RangeError('no memory');
      return store.write(doc, limit);
    };
    await space.engine({ store: { ...store, write } });
    expect(await space.ended('j')).toMatchObject({ exit: 0 });
    expect(await runs(space)).toBe(1);
  });
});
