import { expect, it, onTestFinished } from 'vitest';
import { createTestEngine } from '../../../src/testing/index.js';
import { flow, job, task } from '../../support/documents.js';

const hour = 3_600_000;

async function engineWith(cache: object, result: unknown = { place: 'Bern' }) {
  const engine = await createTestEngine({
    documents: [task('geo', { cache, owner: 'DEFAULT' }), flow('f', ['geo'], { owner: 'DEFAULT' })],
    plugins: {
      geo: ({ params }) => (params['bad'] === true ? Promise.reject(new Error('no')) : result),
    },
  });
  onTestFinished(engine.close);
  const run = async (params: object, more: object = {}) =>
    engine.ended(await engine.submit(job('f', { params: { geo: params }, ...more })));
  return { ...engine, run };
}

// Shows X-52.
it('a result is used again for the same parameters while it lives, and not after', async () => {
  const { run, calls, pass, history } = await engineWith({ ttl: hour });
  const first = await run({ zip: 3000 });
  const second = await run({ zip: 3000 });
  expect(second.steps).toMatchObject([
    { result: { place: 'Bern' }, cached: { job: first._id, path: '0' } },
  ]);
  expect(await history(second._id)).toContainEqual(
    expect.objectContaining({
      kind: 'StepCompleted',
      data: {
        cached: expect.objectContaining({ job: first._id }) as object,
        result: { place: 'Bern' },
      },
    }),
  );
  expect(calls('geo')).toHaveLength(1);
  await run({ zip: 8000 });
  await run({ zip: 3000 }, { owner: 'other' });
  expect(calls('geo')).toHaveLength(3);
  await pass(hour);
  await run({ zip: 3000 });
  expect(calls('geo')).toHaveLength(4);
});

it('a failure is never kept', async () => {
  const { run, calls } = await engineWith({ ttl: hour });
  await run({ bad: true });
  await run({ bad: true });
  expect(calls('geo')).toHaveLength(2);
});

it('a large result is kept as an attachment, and used as one', async () => {
  const text = 'x'.repeat(100_000);
  const { run, calls } = await engineWith({ ttl: hour, key: 'params.zip' }, { text });
  const first = await run({ zip: 1, other: 1 });
  const second = await run({ zip: 1, other: 2 });
  expect(second.steps).toMatchObject([
    { result: { $attachment: 'result-0-1.json' }, cached: { job: first._id } },
  ]);
  expect(second['_attachments']).toMatchObject({ 'result-0-1.json': { length: 100_011 } });
  expect(calls('geo')).toHaveLength(1);
});
