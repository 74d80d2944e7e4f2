import { expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

const ran: string[] = [];
Object.assign(globalThis, { twsMigrateRan: ran });
const plugins = {
  'count.mjs': `export default ({ job, step }) => {
    globalThis.twsMigrateRan.push(job._id + ' ' + step.path);
  };`,
};
const version = (of: string, names: readonly string[]) => ({
  ...{ _id: `flow:${of}`, type: 'flow', name: 'f', owner: 'DEFAULT', timeout: 0 },
  ...{ version: of, tasks: names, ...(of === '1' ? { current: true } : {}) },
});
const one = ['a', 'b', 'c', 'd'];
const two = ['a', 'b', 'x', 'y', 'z'];
const count = 24;

// Shows X-28.
it('jobs that move while engines write them lose nothing and run nothing twice', async () => {
  const { put, engine, ended, store, until } = await openWorkspace(plugins);
  await put(
    ...[...new Set([...one, ...two])].map((name) => ({
      ...{ _id: `task:${name}`, type: 'task', name, plugin: 'count' },
    })),
    ...[version('1', one), version('2', two)],
  );
  await Promise.all([engine({ slots: 4 }), engine({ slots: 4 })]);
  const ids = Array.from({ length: count }, (_, i) => `job-${i}`);
  await put(...ids.map((_id) => ({ _id, type: 'job', flow: 'f' })));
  // Each is asked while another one is at another step.
  await until('job-0', ({ steps }) => Array.isArray(steps) && steps.length > 0);
  await put(
    ...ids.map((job) => ({
      ...{ _id: `r-${job}`, type: 'request', job, action: 'migrate', to: '2', by: 'ann' },
    })),
  );
  const jobs = await Promise.all(ids.map((id) => ended(id)));
  for (const { _id: id, steps, flow_version: went, exit, requests } of jobs) {
    const isMoved = went === '2';
    expect(steps.map(({ name }) => name)).toEqual(isMoved ? two : one);
    expect(steps.every(({ attempt, state }) => attempt === 1 && state === '$$complete')).toBe(true);
    expect(exit).toBe(0);
    const [record] = (requests ?? []) as readonly Record<string, unknown>[];
    if (isMoved) expect(record).toMatchObject({ action: 'migrate', to: '2', by: 'ann' });
    expect(record?.['refused'] === undefined).toBe(isMoved || record === undefined);
    expect(ran.filter((line) => line.startsWith(`${id} `)).toSorted()).toEqual(
      steps.map(({ path }) => `${id} ${String(path)}`),
    );
  }
  expect(jobs.some(({ flow_version: went }) => went === '2')).toBe(true);
  const asked = ids.map((id) => `r-${id}`);
  await expect.poll(async () => (await store.getMany(asked)).size).toBe(0);
});
