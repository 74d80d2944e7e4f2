import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flow, job as jobOf } from '../../support/documents.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

/** Leaves a line when it begins, and ends when the file that it is given is there. */
const work = `
import { appendFile, access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
export default async ({ params, job, step, cwd, signal }) => {
  await appendFile(cwd + '/began.log', job._id + ' ' + step.name + '\\n');
  const isOpen = () => access(cwd + '/' + params.gate).then(() => true, () => false);
  while (params.gate !== undefined && !signal.aborted && !(await isOpen())) await sleep(10);
};`;
const task = { _id: 'task:DEFAULT:work', type: 'task', name: 'work', timeout: 0 };
const job = (id: string, more: Record<string, unknown> = {}) => jobOf('one', { _id: id, ...more });

async function openBusy(): Promise<Workspace> {
  const space = await openWorkspace({ 'work.mjs': work });
  const gated = { task: 'work', name: 'gated', params: { gate: 'open' } };
  const after = ['x', 'y', 'z'].map((name) => ({ task: 'work', name }));
  await space.put(
    task,
    flow('one', ['work']),
    flow('gated', [gated]),
    flow('long', [gated, ...after]),
  );
  return space;
}

/** The lines of the steps that began, in their order. */
async function begun({ folder }: Workspace): Promise<readonly string[]> {
  return (await readFile(join(folder, 'began.log'), 'utf8')).trim().split('\n');
}

/** Resolves when so many jobs wait for a slot. */
async function waiting({ log }: Workspace, count: number): Promise<void> {
  const ofSlots = (): number =>
    log.filter(({ message }) => message.includes('waits for a free slot')).length;
  await expect.poll(ofSlots, { interval: 20 }).toBeGreaterThanOrEqual(count);
}

const open = ({ folder }: Workspace): Promise<void> => writeFile(join(folder, 'open'), '');

describe('a busy engine', () => {
  // Shows B-08, X-21.
  it('takes what waits by priority, then by age, when its slot comes free', async () => {
    const space = await openBusy();
    await space.engine({ slots: 1 });
    await space.put(job('busy', { flow: 'gated' }));
    await space.until('busy', ({ state }) => state === 'work-0');
    const priorities = [500, 0, 999, undefined, 3, 500, 10, 0, 999, 3];
    const jobs = Array.from({ length: 30 }, (_, i) => ({
      id: `job-${i}`,
      priority: priorities[i % priorities.length],
    }));
    for (const { id, priority } of jobs) {
      await space.put(job(id, priority === undefined ? {} : { priority }));
    }
    await waiting(space, 30);
    await open(space);
    for (const { id } of jobs) await space.ended(id);
    const inOrder = jobs
      .toSorted((a, b) => (a.priority ?? 500) - (b.priority ?? 500))
      .map(({ id }) => `${id} work`);
    expect(await begun(space)).toEqual(['busy gated', ...inOrder]);
  });

  it('lets a job of a better priority in between two steps, and no other one', async () => {
    const space = await openBusy();
    await space.engine({ slots: 1 });
    await space.put(job('long', { flow: 'long', priority: 300 }));
    await space.until('long', ({ state }) => state === 'work-0');
    await space.put(
      job('same', { priority: 300 }),
      job('worse', { priority: 301 }),
      job('better', { priority: 299 }),
    );
    await waiting(space, 3);
    await open(space);
    await Promise.all(['long', 'same', 'worse', 'better'].map((id) => space.ended(id)));
    expect(await begun(space)).toEqual([
      'long gated',
      'better work',
      ...['long x', 'long y', 'long z', 'same work', 'worse work'],
    ]);
  });

  it('lets no new job jump the line while the first in line is fetched', async () => {
    const space = await openBusy();
    const engine = await space.engine({ slots: 1 });
    await space.put(job('busy', { flow: 'gated' }));
    await space.until('busy', ({ state }) => state === 'work-0');
    const early = Array.from({ length: 20 }, (_, i) => `early-${i}`);
    for (const id of early) await space.put(job(id));
    await waiting(space, 20);
    await open(space);
    const late = Array.from({ length: 20 }, (_, i) => `late-${i}`);
    for (const id of late) await space.put(job(id));
    await Promise.all([...early, ...late].map((id) => space.ended(id)));
    const lines = await begun(space);
    expect(lines.slice(1, 21)).toEqual(early.map((id) => `${id} work`));
    expect(new Set(lines).size).toBe(41);
    await engine.stop();
  });
});
