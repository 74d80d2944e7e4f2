import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headStart } from '../../../src/decide/compete/fair-share.js';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

/** Leaves a line when it begins, and ends when the file `open` is there. */
const work = `
import { access, appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
export default async ({ job, cwd, signal }) => {
  await appendFile(cwd + '/began.log', job._id + '\\n');
  const isOpen = () => access(cwd + '/open').then(() => true, () => false);
  while (!signal.aborted && !(await isOpen())) await sleep(10);
};`;

const slots = 10;
const normal = 20;

/** The wide jobs: what they are made of, and the documents that they need. */
const kinds = {
  'a parallel of 1,000 steps': {
    tasks: [{ parallel: Array.from({ length: 1_000 }, () => 'work') }],
  },
  'a map of 5,000 items': { tasks: [{ map: { over: 'params.list', do: 'work' } }] },
  'a map in slices': { tasks: [{ map: { over: 'params.list', do: 'work', slice: 100 } }] },
  'a graph of 300 steps': {
    tasks: [
      { graph: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`n${i}`, 'work'])) },
    ],
  },
  'a batch of 300 steps': {
    tasks: [{ batch: Array.from({ length: 300 }, () => 'work'), on_complete: 'work' }],
  },
  'a parallel of 300 child flows': {
    tasks: [{ parallel: Array.from({ length: 300 }, () => ({ flow: 'one' })) }],
  },
} as const;

/** The ids of the jobs whose steps began, in their order; children under the id of their root. */
async function begun({ folder }: Workspace): Promise<readonly string[]> {
  const text = await readFile(join(folder, 'began.log'), 'utf8').catch(() => '');
  const lines = text
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((id) => (id.startsWith('wide') ? 'wide' : id));
}

type Setting = {
  readonly kind: keyof typeof kinds;
  readonly owner: string;
  readonly engines: number;
};

const settings: readonly Setting[] = [
  ...(['a parallel of 1,000 steps', 'a map of 5,000 items'] as const).flatMap((kind) =>
    ['me', 'you'].flatMap((owner) => [1, 2].map((engines) => ({ kind, owner, engines }))),
  ),
  ...(
    [
      'a map in slices',
      'a graph of 300 steps',
      'a batch of 300 steps',
      'a parallel of 300 child flows',
    ] as const
  ).map((kind) => ({ kind, owner: 'me', engines: 1 })),
];

describe('jobs of one step', () => {
  it.each(settings)(
    'of "$owner" end while $kind of "me" gets few further slots of $engines engines',
    async ({ kind, owner, engines }) => {
      const space = await openWorkspace({ 'work.mjs': work });
      const one = flow('one', ['work'], { timeout: 0 });
      await space.put(
        task('work', { timeout: 0 }),
        ...[one, { ...one, _id: 'flow:you:one', owner: 'you' }],
        flow('wide', kinds[kind].tasks, { timeout: 0 }),
      );
      await Promise.all(Array.from({ length: engines }, () => space.engine({ slots })));
      const list = Array.from({ length: 5_000 }, (_, i) => i);
      await space.put(job('wide', { _id: 'wide', params: { list } }));
      const all = slots * engines;
      await expect.poll(async () => (await begun(space)).length).toBe(all);
      const ids = Array.from({ length: normal }, (_, i) => `normal-${i}`);
      for (const _id of ids) await space.put(job('one', { _id, owner }));
      await inLine(space, ids, engines);
      await appendFile(join(space.folder, 'open'), '');
      for (const id of ids) await space.ended(id);
      const after = (await begun(space)).slice(all);
      const last = after.findLastIndex((id) => id !== 'wide');
      const further = after.slice(0, last).filter((id) => id === 'wide').length;
      // Jobs of the same owner go before it; with another owner it shares the slots.
      const most = owner === 'me' ? engines * headStart : all + normal;
      expect(further).toBeLessThanOrEqual(most);
    },
  );
});

/** Resolves when each of these jobs waits for a slot of every engine. */
async function inLine({ log }: Workspace, ids: readonly string[], engines: number): Promise<void> {
  const isOf = (id: string): boolean => {
    const waits = log.filter(
      ({ message, about }) => about['job'] === id && /free slot|goes first/.test(message),
    );
    return waits.length >= engines;
  };
  await expect.poll(() => ids.every(isOf)).toBe(true);
}
