import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWorkspace, type Ended } from '../support/workspace.js';

const gate = `
import { existsSync } from 'node:fs';
export default ({ cwd }) => {
  if (!existsSync(cwd + '/open')) throw new Error('The gate is shut.');
  return 'through';
};`;

const trailOf = ({ steps }: Ended): readonly string[] =>
  steps.map(({ task, attempt, state }) => `${String(task)}#${String(attempt)} ${state}`);

it('the retry of a job has its failed child jobs go on, over all generations', async () => {
  const space = await openWorkspace({ 'gate.mjs': gate, 'work.mjs': `export default () => 1;` });
  const flow = (name: string, tasks: readonly unknown[]) => ({
    ...{ _id: `flow:me:${name}`, type: 'flow', name, owner: 'me', tasks },
  });
  await space.put(
    ...['gate', 'work'].map((name) => ({ _id: `task:DEFAULT:${name}`, type: 'task', name })),
    { ...flow('inner', ['work', 'gate']), output: 'results.gate' },
    { ...flow('middle', ['work', { flow: 'inner' }]), output: 'results.inner' },
    { ...flow('outer', [{ flow: 'middle' }, 'work']), output: 'results.middle' },
  );
  await space.engine();
  await space.put({ _id: 'j', type: 'job', flow: 'outer', owner: 'me' });
  expect((await space.ended('j')).exit).toBe(2);
  await writeFile(join(space.folder, 'open'), '');
  await space.put({ type: 'request', job: 'j', action: 'retry' });
  const isAgain = (doc: Readonly<Record<string, unknown>>): boolean =>
    doc['state'] === '$$complete' && doc['run'] === 2;
  const endOf = async (id: string): Promise<Ended> => (await space.until(id, isAgain)) as Ended;
  const again = await endOf('j');
  expect(again).toMatchObject({ exit: 0, result: 'through' });
  expect(trailOf(again)).toEqual(['middle#1 $$error', 'middle#2 $$complete', 'work#1 $$complete']);
  expect(trailOf(await endOf('j:0:1'))).toEqual([
    'work#1 $$complete',
    'inner#1 $$error',
    'inner#2 $$complete',
  ]);
  expect(trailOf(await endOf('j:0:1:1:1'))).toEqual([
    'work#1 $$complete',
    'gate#1 $$error',
    'gate#2 $$complete',
  ]);
});
