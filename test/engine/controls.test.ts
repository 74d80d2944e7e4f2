import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.js';
import { openWorkspace } from '../support/workspace.js';

const plugins = {
  'where.mjs': 'export default ({ step }) => step.engine;',
  'slow.mjs': `export default () => new Promise((done) => setTimeout(done, 300, 'slow'));`,
};
const definitions = [
  ...['where', 'slow'].map((name) => ({ _id: `task:DEFAULT:${name}`, type: 'task', name })),
  { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['slow', 'where'] },
];
const job = { type: 'job', flow: 'f', owner: 'me' };

describe('an engine that is disabled', () => {
  it('ends what it has begun, takes nothing new, and leaves it to the others', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...definitions);
    await space.engine({ name: 'a' });
    const client = createClient(space);
    const [id = ''] = await space.put(job);
    await space.until(id, ({ state }) => state === 'slow-0');
    expect(await client.setEnabled('engine:a', false, 'me')).toEqual({
      id: 'engine:a',
      changed: true,
    });
    await space.until(
      id,
      ({ steps }) => (steps as { state: string }[] | undefined)?.[0]?.state === '$$complete',
    );
    await space.until('engine:a', ({ state }) => state === 'disabled');
    await space.engine({ name: 'b' });
    const ended = await space.ended(id);
    expect(ended.steps.map(({ engine }) => engine)).toEqual(['engine:a', 'engine:b']);
  });

  it('takes work again when it is enabled, also what came meanwhile', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...definitions, {
      _id: 'engine-control:*',
      type: 'engine-control',
      engine: '*',
      enabled: false,
    });
    const client = createClient(space);
    await space.engine({ name: 'a' });
    await space.until('engine:a', ({ state }) => state === 'disabled');
    const [id = ''] = await space.put(job);
    const [reason] = (await client.explain(id)).reasons;
    expect(reason?.because).toBe('All engines that are alive are disabled (engine:a).');
    expect(await client.get(id)).not.toHaveProperty('state');
    await client.setEnabled('*', true, 'me');
    expect(await space.ended(id)).toMatchObject({ exit: 0 });
    await space.until('engine:a', ({ state }) => state === 'running');
  });

  it('must be one that there is', async () => {
    const space = await openWorkspace();
    const client = createClient(space);
    await expect(client.setEnabled('engine:zzz', false, 'me')).rejects.toMatchObject({
      code: 'document_missing',
    });
  });
});
