import { expect, it } from 'vitest';
import { flow, job, task } from '../../support/documents.js';
import { startReceiver } from '../../support/receiver.js';
import { openWorkspace } from '../../support/workspace.js';
import { smtpServer } from '../../plugins/smtp.js';

it('a format is sent to a real webhook and a real mail server, and is no template', async () => {
  const { url, until } = await startReceiver();
  const { port, received } = await smtpServer();
  const space = await openWorkspace({
    'bad.mjs': `export default () => { throw new Error('<b> {{job._id}}'); };`,
  });
  const smtp = { host: '127.0.0.1', port, secure: false };
  const notify = [
    { url, format: 'slack' },
    { task: 'mail', format: 'mail', params: { to: 'ops@example.com' } },
  ];
  await space.put(
    ...[
      task('bad'),
      task('mail', { plugin: 'mail-smtp', params: { smtp, from: 'tws@example.com' } }),
    ],
    flow('f', ['bad'], { notify }),
  );
  await space.engine();
  await space.put(job('f', { _id: 'j' }));
  const [slack] = await until(1);
  expect(slack?.body).toMatchObject({
    text: 'Job j of flow f failed',
    blocks: [{ type: 'header' }, { text: { text: 'Error: &lt;b&gt; {{job._id}}' } }, {}],
  });
  expect(await space.ended('j:notify:1:1')).toMatchObject({ exit: 0 });
  expect(received[0]?.raw).toContain('Subject: Job j of flow f failed');
  expect(received[0]?.raw).toContain('Error: <b> {{job._id}}');
});
