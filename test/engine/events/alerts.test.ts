import { expect, it } from 'vitest';
import { createClient } from '../../../src/client.js';
import { flow, job, task } from '../../support/documents.js';
import { startReceiver } from '../../support/receiver.js';
import { openWorkspace } from '../../support/workspace.js';

it('a job that is late, stuck or waiting is told of once, by whichever engine', async () => {
  const { url, until, received } = await startReceiver();
  const space = await openWorkspace({ 'ok.mjs': 'export default () => 1;' });
  const notify = [{ on: ['late', 'stuck', 'waiting'], after: 0, url }];
  await space.put(
    ...[task('ok'), task('nowhere')],
    flow('long', [{ delay: 600_000 }], { notify, expected: 1_000 }),
    flow('stuck', ['nowhere'], { notify, timeout: 0 }),
    flow('ask', [{ wait: { signal: 'yes' } }, 'ok'], { notify, timeout: 0 }),
  );
  await space.engine({ name: 'a' });
  await space.engine({ name: 'b' });
  await space.put(job('long', { _id: 'l' }), job('stuck', { _id: 's' }), job('ask', { _id: 'w' }));
  const came = await until(3);
  expect(
    came.map(({ body: { type, data } }) => `${type} ${String(data['because'])}`).toSorted(),
  ).toEqual([
    'job.late It has been running for longer than the expected 1 s.',
    'job.stuck Step nowhere needs plugin "nowhere": no engine has it.',
    'job.waiting Step wait waits for the signal "yes".',
  ]);
  for (const id of ['l', 's', 'w']) {
    const { notifications } = await space.until(id, (doc) => doc['notifications'] !== undefined);
    for (const { id: made } of notifications as readonly { readonly id: string }[]) {
      expect(await space.ended(made)).toMatchObject({ exit: 0 });
    }
  }
  const { reasons } = await createClient(space).explain('l');
  expect(reasons.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['late', 'notification']));
  await space.put({ type: 'signal', job: 'w', name: 'yes' });
  expect((await space.ended('w')).exit).toBe(0);
  expect(received).toHaveLength(3);
});
