import { describe, expect, it } from 'vitest';
import { flow, job } from '../../support/documents.js';
import { openWorkspace, type Ended } from '../../support/workspace.js';

const where = `export default ({ step }) => step.engine;`;
const task = { _id: 'task:DEFAULT:where', type: 'task', name: 'where' };
const enginesOf = ({ steps }: Ended): unknown[] => steps.map((step) => step['engine']);

describe('engines with queues', () => {
  it('take steps of their own queues only, whoever begins and ends the job', async () => {
    const space = await openWorkspace({ 'where.mjs': where });
    await space.put(
      task,
      flow('f', ['where', 'where']),
      flow('night', ['where'], { queue: 'night' }),
      flow('outer', [{ flow: 'f' }]),
    );
    const usual = await space.engine();
    const night = await space.engine({ queues: ['night', 'other'] });
    const count = 20;
    const all = (more: Record<string, unknown>, name = 'f') =>
      space.put(...Array.from({ length: count }, () => job(name, more)));
    const [plain, own, ofFlow] = await Promise.all([
      all({}),
      all({ queue: 'other' }),
      all({}, 'night'),
    ]);
    for (const id of plain) {
      expect(enginesOf(await space.ended(id))).toEqual([usual.id, usual.id]);
    }
    for (const id of own) expect(enginesOf(await space.ended(id))).toEqual([night.id, night.id]);
    for (const id of ofFlow) expect(enginesOf(await space.ended(id))).toEqual([night.id]);
    await space.put(job('outer', { _id: 'parent', queue: 'night', priority: 7 }));
    expect(await space.ended('parent')).toMatchObject({ exit: 0 });
    const child = await space.ended('parent:0:1');
    expect(child).toMatchObject({ queue: 'night', priority: 7 });
    expect(enginesOf(child)).toEqual([night.id, night.id]);
  });

  it('leave a job of a queue that nobody serves until somebody does', async () => {
    const space = await openWorkspace({ 'where.mjs': where });
    await space.put(task, flow('f', ['where']));
    await space.engine();
    await space.put(job('f', { _id: 'j', queue: 'gpu' }));
    await space.until('j', ({ state }) => state === '$$ready');
    const late = await space.engine({ queues: ['gpu'] });
    expect(enginesOf(await space.ended('j'))).toEqual([late.id]);
  });

  it('end it with the time of its flow, and say what was missing', async () => {
    const space = await openWorkspace({ 'where.mjs': where });
    await space.put(task, flow('f', ['where'], { timeout: 300 }));
    await space.engine();
    await space.put(job('f', { _id: 'j', queue: 'gpu' }));
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 1, failure: { name: 'NotServed' } });
    expect(ended.failure?.message).toContain('plugin "where" and the queue "gpu"');
  });

  it('tell others which they serve', async () => {
    const space = await openWorkspace();
    const engine = await space.engine({ queues: ['a', 'b'] });
    expect(await space.store.get(engine.id)).toMatchObject({ queues: ['a', 'b'] });
  });
});
