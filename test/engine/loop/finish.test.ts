import { expect, it } from 'vitest';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

const slow = `export default ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));`;
const echo = `export default ({ params }) => params;`;

it('a finished child flow ends alone, with what still ran in it cancelled, and its parent goes on', async () => {
  const space = await openWorkspace({ 'slow.mjs': slow, 'echo.mjs': echo });
  const early = ['echo', { finish: { result: { n: '{{results.echo.n}}' } } }];
  await space.put(task('slow'), task('echo', { params: { n: 7 } }));
  await space.put(flow('inner', [{ parallel: ['slow', early] }, 'echo']));
  await space.put(
    flow('outer', [{ flow: 'inner' }, { task: 'echo', params: { n: '{{results.inner.n}}' } }]),
  );
  await space.engine();
  await space.put(job('outer', { _id: 'j' }));
  const ended = await space.ended('j');
  expect(ended).toMatchObject({ exit: 0, steps: [{ result: { n: 7 } }, { params: { n: 7 } }] });
  const child = await space.ended(String(ended.steps[0]?.['child']));
  expect(child).toMatchObject({
    exit: 0,
    result: { n: 7 },
  });
  expect(child.steps.map(({ task: name, state }) => `${String(name)} ${String(state)}`)).toEqual([
    ...['slow $$cancelled', 'echo $$complete', 'finish $$complete'],
  ]);
});
