import { describe, expect, it } from 'vitest';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

const boom = `export default () => { throw Object.assign(new Error('no ship'), { code: 'E7' }); };`;
const echo = `export default ({ params }) => params;`;
const seen = (isolate: string) => `${isolate}
  export default ({ failure, parent_results, render }) =>
    ({ failure, parent_results, text: render('{{failure.step}}: {{failure.message}}') });`;
const older = `module.exports = () => (job, step) => Promise.resolve({ failure: step.failure });`;

const broken = {
  ...{ name: 'Error', message: 'no ship', code: 'E7', kind: null },
  ...{ step: 'boom', exit: 2, attempt: 1 },
};

describe('the handler of a failure', () => {
  // Shows E-12, G-02.
  it.each([
    ['in the process', ''],
    ['in a thread', `export const isolate = 'thread';`],
    ['in a process of its own', `export const isolate = 'process';`],
  ])('gets what failed, %s, and the results by position', async (_title, isolate) => {
    const space = await openWorkspace({
      'boom.mjs': boom,
      'echo.mjs': echo,
      'seen.mjs': seen(isolate),
    });
    await space.put(task('boom'), task('seen'), task('echo', { params: { a: 1 } }));
    await space.put(flow('f', ['echo', 'boom'], { error: ['seen'] }));
    await space.engine();
    await space.put(job('f', { _id: 'j' }));
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 2, failure: { message: 'no ship' } });
    expect(ended.steps.at(-1)).toMatchObject({
      path: 'error.sequence.0',
      result: { failure: broken, text: 'boom: no ship', parent_results: { 0: { a: 1 } } },
    });
  });

  it('of the older contract finds it in its step', async () => {
    const space = await openWorkspace({ 'boom.mjs': boom, 'older.cjs': older });
    await space.put(task('boom', { error: 'older' }), task('older'), flow('f', ['boom']));
    await space.engine();
    await space.put(job('f', { _id: 'j' }));
    const ended = await space.ended('j');
    expect(ended.steps.at(-1)).toMatchObject({ result: { failure: broken } });
  });
});

describe('the branch of a catch', () => {
  it('gets what was caught, and the flow goes on with its result', async () => {
    const space = await openWorkspace({ 'boom.mjs': boom, 'seen.mjs': seen(''), 'echo.mjs': echo });
    const caught = { task: 'boom', retry: 1, catch: [{ errors: ['E7'], do: 'seen', as: 'it' }] };
    const after = { task: 'echo', params: { told: '{{results.boom.text}}' } };
    await space.put(task('boom'), task('seen'), task('echo'), flow('f', [caught, after]));
    await space.engine();
    await space.put(job('f', { _id: 'j' }));
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps.map(({ path, state }) => `${String(path)} ${String(state)}`)).toEqual([
      ...['0.try $$error', '0.try $$error', '0.catch.0 $$complete', '1 $$complete'],
    ]);
    expect(ended.steps).toMatchObject([
      {},
      {},
      { result: { failure: { ...broken, attempt: 2 } } },
      { params: { told: 'boom: no ship' } },
    ]);
  });
});
