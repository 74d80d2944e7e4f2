import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

const schema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
const flow = (name: string, more: object): Record<string, unknown> => ({
  _id: `flow:me:${name}`,
  type: 'flow',
  name,
  owner: 'me',
  ...more,
});

describe('an engine with schemas', () => {
  // Shows X-30.
  it('ends jobs whose parameters do not suit and fails steps whose filled-in ones do not', async () => {
    const space = await openWorkspace({ 'echo.mjs': 'export default ({ params }) => params;' });
    await space.put(
      { _id: 'task:DEFAULT:echo', type: 'task', name: 'echo' },
      { _id: 'task:DEFAULT:strict', type: 'task', name: 'strict', plugin: 'echo', schema },
      flow('whole', { tasks: ['echo'], schema }),
      flow('part', { tasks: [{ task: 'strict', params: { n: '{{job.params.n}}' }, retry: 3 }] }),
    );
    await space.engine();
    const job = (name: string, n: unknown) => ({
      type: 'job',
      flow: name,
      owner: 'me',
      params: { n },
    });
    const ids = await space.put(
      job('whole', 1),
      job('whole', 'x'),
      job('part', 1),
      job('part', 'x'),
    );
    const ended = await Promise.all(ids.map((id) => space.ended(String(id))));
    expect(ended).toMatchObject([
      { exit: 0 },
      {
        exit: 3,
        failure: { name: 'ParamsUnfit' },
        problems: [{ path: 'params.n', message: 'params.n must be number.' }],
        steps: [],
      },
      { exit: 0, steps: [{ result: { n: 1 } }] },
      { exit: 3, steps: [{ state: '$$error', exit: 3, failure: { name: 'ParamsUnfit' } }] },
    ]);
  });

  // Shows X-30.
  it('checks results, also long ones, and what a flow ends with', async () => {
    const made = `export default ({ params }) => ({ n: params.n, text: 'x'.repeat(params.length) });`;
    const space = await openWorkspace({ 'made.mjs': made });
    const of = (n: unknown, length = 1) => [{ task: 'made', params: { n, length } }];
    const output = 'results.made.n';
    await space.put(
      { _id: 'task:DEFAULT:made', type: 'task', name: 'made', output_schema: schema },
      flow('good', { tasks: of(1, 100_000), output, output_schema: { type: 'number' } }),
      flow('long', { tasks: of('x', 100_000) }),
      flow('whole', { tasks: of(1), output, output_schema: { type: 'string' } }),
    );
    await space.engine();
    const names = ['good', 'long', 'whole'];
    const ids = await space.put(...names.map((name) => ({ type: 'job', flow: name, owner: 'me' })));
    const ended = await Promise.all(ids.map((id) => space.ended(String(id))));
    expect(ended).toMatchObject([
      { exit: 0, result: 1 },
      { exit: 2, failure: { name: 'ResultUnfit', step: 'made' } },
      { exit: 3, failure: { name: 'ResultUnfit' }, steps: [{ state: '$$complete' }] },
    ]);
  });
});
