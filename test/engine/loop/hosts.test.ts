import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

const plugins = {
  // Tells how long after its signal it has ended, in its own last words.
  'hold.mjs': `export default ({ signal, progress }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      progress('heard at ' + Date.now());
      reject(signal.reason);
    });
  });`,
  'where.mjs': `export default ({ step }) => step.engine;`,
};

describe('two engines', () => {
  // Shows I-02, X-24.
  it('bring a cancel to the one that runs the step in little more than the database takes', async () => {
    const space = await openWorkspace(plugins);
    await space.put(
      { _id: 'task:DEFAULT:hold', type: 'task', name: 'hold', timeout: 0, labels: ['left'] },
      { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['hold'], timeout: 0 },
    );
    await space.engine({ name: 'left', labels: ['left'] });
    await space.engine({ name: 'right' });
    const began = performance.now();
    const [id = ''] = await space.put({ type: 'job', flow: 'f', owner: 'me' });
    const running = await space.until(id, ({ state }) => state === 'hold-0');
    const oneWayMs = performance.now() - began;
    expect(running['steps']).toMatchObject([{ engine: 'engine:left' }]);
    const asked = Date.now();
    await space.put({ type: 'request', job: id, action: 'cancel' });
    const ended = await space.ended(id);
    expect(ended).toMatchObject({ state: '$$cancelled', steps: [{ state: '$$cancelled' }] });
    const [, heard] = /^heard at (\d+)$/.exec(String(ended.steps[0]?.['progress'])) ?? [];
    expect(Number(heard) - asked).toBeLessThan(15_000 + 2 * oneWayMs);
  });

  // Shows C-10, X-51.
  it('take only the steps whose labels they carry', async () => {
    const space = await openWorkspace(plugins);
    const task = (name: string, labels: readonly string[]) => ({
      _id: `task:DEFAULT:${name}`,
      type: 'task',
      name,
      plugin: 'where',
      labels,
    });
    const steps = ['l', 'r', 'l', 'both', 'r'];
    await space.put(task('l', ['left']), task('r', ['right']), task('both', ['left', 'fast']), {
      _id: 'flow:me:f',
      type: 'flow',
      name: 'f',
      owner: 'me',
      tasks: steps,
    });
    await space.engine({ name: 'left', labels: ['left', 'fast'] });
    await space.engine({ name: 'right', labels: ['right'] });
    const ids = await space.put(
      ...Array.from({ length: 5 }, () => ({ type: 'job', flow: 'f', owner: 'me' })),
    );
    const left = 'engine:left';
    const right = 'engine:right';
    for (const id of ids) {
      const ended = await space.ended(id);
      expect(ended.exit).toBe(0);
      const results = ended.steps.map(({ engine }) => engine);
      expect(results).toEqual([left, right, left, left, right]);
    }
  });

  it('leave a step whose label nobody carries until the time of its flow is over', async () => {
    const space = await openWorkspace(plugins);
    await space.put(
      { _id: 'task:DEFAULT:where', type: 'task', name: 'where', labels: ['none'] },
      { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['where'], timeout: 300 },
    );
    await Promise.all([space.engine({ labels: ['left'] }), space.engine()]);
    const [id = ''] = await space.put({ type: 'job', flow: 'f', owner: 'me' });
    const ended = await space.ended(id);
    expect(ended).toMatchObject({ exit: 1, failure: { name: 'NotServed' } });
    expect(ended.failure?.message).toContain('none');
  });
});
