import { expect, it } from 'vitest';
import { createTestEngine } from '../../src/testing/index.js';
import { flow, job, task } from '../support/documents.js';

it('a test engine does the same on an embedded server', async () => {
  const engine = await createTestEngine({
    store: 'embedded',
    engines: 2,
    documents: [
      task('a', { retry: { limit: 1, delay: 3_600_000 } }),
      flow('f', ['a', { delay: 86_400_000 }, { wait: { signal: 'go' } }], { timeout: 0 }),
    ],
    plugins: { a: [{ fails: {} }, { result: 1 }] },
  });
  const id = await engine.submit(job('f'));
  await engine.until(id, ({ state }) => state === 'wait-2');
  await engine.signal(id, 'go');
  await engine.expect(id, { exit: 0, attempts: { a: 2 }, took: { from: 90_000_000 } });
  await engine.close();
  expect(engine.running()).toBe(0);
});
