import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client.js';
import { openWorkspace } from '../../support/workspace.js';

const plugins = {
  'where.mjs': 'export default ({ step }) => step.engine;',
  'held.mjs': 'export default () => globalThis.untilReleased;',
};
const definitions = [
  ...['where', 'held'].map((name) => ({ _id: `task:DEFAULT:${name}`, type: 'task', name })),
  { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['where'] },
  { _id: 'flow:me:holds', type: 'flow', name: 'holds', owner: 'me', tasks: ['held', 'where'] },
];
const job = { type: 'job', flow: 'f', owner: 'me' };

/** Steps of the task `held` run until the function that this returns is called. */
function hold(): () => void {
  let release = (): void => undefined;
  const untilReleased = new Promise<void>((resolve) => (release = resolve));
  Object.assign(globalThis, { untilReleased });
  return release;
}

describe('an engine that is disabled', () => {
  // Shows I-07.
  it('ends what it has begun, takes nothing new, and leaves it to the others', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...definitions);
    await space.engine({ name: 'a' });
    const client = createClient(space);
    const release = hold();
    const [id = ''] = await space.put({ ...job, flow: 'holds' });
    await space.until(id, ({ state }) => state === 'held-0');
    expect(await client.setEnabled('engine:a', false, 'me')).toEqual({
      id: 'engine:a',
      changed: true,
    });
    await space.until('engine:a', ({ state }) => state === 'disabled');
    release();
    await space.until(
      id,
      ({ steps }) => (steps as { state: string }[] | undefined)?.[0]?.state === '$$complete',
    );
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
    expect(reason?.because).toMatch(/^All engines are disabled: none begins a step/);
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
