import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client.js';
import { openWorkspace } from '../../support/workspace.js';

const plugins = { 'say.mjs': 'export default () => ({ said: true });' };
const job = (n: number, more: object = {}) => ({
  ...{ _id: `j${n}`, type: 'job', flow: 'f', owner: 'me', ...more },
});
const numbers = [0, 1, 2, 3, 4, 5];

describe('a rate limit', () => {
  // Shows X-20.
  it.each([
    ['of a task', { task: { limit: 2, per: 1_500 } }],
    ['of a flow', { flow: { limit: 2, per: 1_500 } }],
    ['of a queue', { queue: { limit: 2, per: 1_500 } }],
  ])('R12: %s is kept by three engines together', async (_title, { task, flow, queue }: Limits) => {
    const space = await openWorkspace(plugins);
    await space.put(
      { _id: 't', type: 'task', name: 'say', ...(task && { rate: task }) },
      {
        _id: 'f',
        type: 'flow',
        name: 'f',
        owner: 'me',
        tasks: ['say'],
        ...(flow && { rate: flow }),
      },
      { _id: 'q', type: 'queue-control', queue: 'default', ...(queue && { rate: queue }) },
    );
    for (const name of ['a', 'b', 'c']) await space.engine({ name });
    await space.put(...numbers.map((n) => job(n)));
    const ended = await Promise.all(numbers.map((n) => space.ended(`j${n}`)));
    const begun = ended.map(({ steps }) => Number(steps[0]?.accepted));
    // Three windows; an engine that a busy machine holds up begins later than it may.
    expect(Math.max(...begun) - Math.min(...begun)).toBeGreaterThanOrEqual(1_500);
    // Whoever waits writes nothing: two revisions of its own, and those of the engine.
    expect(ended.map(({ _rev }) => Number.parseInt(_rev, 10) <= 4)).not.toContain(false);
  });

  it('has windows of its own for each key, and says why a job waits', async () => {
    const space = await openWorkspace(plugins);
    const rate = { limit: 1, per: 'PT1H', key: 'params.customer' };
    await space.put(
      { _id: 't', type: 'task', name: 'say', rate },
      { _id: 'f', type: 'flow', name: 'f', owner: 'me', tasks: ['say'] },
    );
    await space.engine({ name: 'a' });
    const of = (customer: string) => ({ params: { say: { customer } } });
    await space.put(job(0, of('x')));
    await space.ended('j0');
    await space.put(job(1, of('x')), job(2, of('y')));
    await space.ended('j2');
    const client = createClient(space);
    await expect
      .poll(async () => (await client.explain('j1')).reasons[0])
      .toMatchObject({
        kind: 'rate',
        because: expect.stringMatching(
          /rate limit of task "say" \(1 per 3600 s\), next at /,
        ) as string,
      });
    expect((await client.get('j1'))?.['steps']).toBeUndefined();
  });
});

type Limits = { readonly task?: object; readonly flow?: object; readonly queue?: object };
