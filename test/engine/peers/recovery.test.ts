import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usualLeaseMs } from '../../../src/model/engine.js';
import { openStore } from '../../../src/store/store.js';
import { startFaultyProxy } from '../../support/faulty-proxy.js';
import { faults } from '../../support/faults.js';
import { couchUrl } from '../../support/couch.js';
import { openWorkspace } from '../../support/workspace.js';

/** Notes each call of itself in a file. */
const notes = `import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
export default async ({ job, step }) => {
  await appendFile(new URL('./notes', import.meta.url), job._id + ' ' + step.index + '\\n');
  await sleep(50);
  return step.index;
};`;

/** An engine behind a proxy, and a flow of three steps. */
async function behindProxy() {
  const proxy = await startFaultyProxy(new URL(couchUrl()).origin);
  const space = await openWorkspace({ 'note.mjs': notes });
  await space.put(
    { _id: 'task:DEFAULT:note', type: 'task', name: 'note' },
    { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['note', 'note', 'note'] },
  );
  const store = openStore({ ...space.store.connection, url: proxy.url });
  await space.engine({ store });
  const submit = (jobs: number) =>
    space.put(...Array.from({ length: jobs }, () => ({ type: 'job', flow: 'f', owner: 'me' })));
  /** How often each step of each job was run. */
  const runs = async (): Promise<Readonly<Record<string, number>>> => {
    const counted: Record<string, number> = {};
    const text = await readFile(join(space.folder, 'notes'), 'utf8');
    for (const line of text.trim().split('\n')) counted[line] = (counted[line] ?? 0) + 1;
    return counted;
  };
  return { proxy, space, submit, runs };
}

describe('when a database has recovered that', () => {
  it.each(faults)(
    '%s, everything moves again before a lease is over twice, nothing lost or doubled',
    async (_title, fault) => {
      const { proxy, space, submit, runs } = await behindProxy();
      const ids = [...(await submit(20))];
      await space.until(String(ids[0]), (doc) => doc['state'] === 'note-1');
      proxy.begin(fault);
      ids.push(...(await submit(5)));
      // Until the engine has met the fault where it writes, reads and follows.
      await expect.poll(proxy.met).toBeGreaterThan(fault.kind === 'delay' ? 10 : 4);
      proxy.heal();
      const healedAt = performance.now();
      ids.push(...(await submit(5)));
      for (const id of ids) {
        const withinMs = Math.max(1, healedAt + 2 * usualLeaseMs - performance.now());
        expect(await space.ended(id, withinMs)).toMatchObject({ state: '$$complete', exit: 0 });
      }
      if (process.env['TWS_TEST_LOG']) console.log(_title, performance.now() - healedAt);
      const counted = await runs();
      expect(Object.keys(counted)).toHaveLength(3 * ids.length);
      expect(Object.entries(counted).filter(([, times]) => times !== 1)).toEqual([]);
    },
  );
});
