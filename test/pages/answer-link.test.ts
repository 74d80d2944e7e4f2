import { expect, it } from 'vitest';
import { openAnswerLinks } from '../../src/secrets/answer-links.js';
import { flow } from '../cli/terminal.js';
import { openApi } from '../http/server.js';
import { smtpServer, unfolded } from '../plugins/smtp.js';
import { auditOf, endBrowser, openPage, shoot } from './browser.js';

endBrowser();

const approve = {
  ...{ title: 'Pay <17>', text: 'To Miller & Sons', assignee: ['ann', 'bob'], due: 86_400_000 },
  form: { properties: { account: { type: 'integer', title: 'Account', minimum: 1 } } },
};
const notify = [
  {
    on: ['waiting'],
    task: 'mail',
    params: {
      to: '{{job.notifies.assignee}}@example.com',
      ...{ subject: 'Sign', text: 'Answer: {{form.link}}' },
    },
  },
];

// Shows X-13.
it('answers a form by the link of a mail, once, without signing in and without scripts', async () => {
  const { port, received } = await smtpServer();
  const links = await openAnswerLinks('a key of the project');
  const api = await openApi({ answerLinks: links, settings: { sign_in: 'always' } });
  if (links === undefined) throw new Error('There is no key.');
  const addressOf = (token: string): string => `${api.url}/_tws/answer/${token}`;
  const engine = await api.engine({ answerLinks: { links, addressOf } });
  const smtp = { host: '127.0.0.1', port };
  const params = { from: 'tws@example.com', smtp };
  await api.put(
    { _id: 'm', type: 'task', name: 'mail', plugin: 'mail-smtp', params },
    { _id: 'n', type: 'task', name: 'noop' },
    {
      ...flow('pay', [{ name: 'sign', approve }, 'noop'], { timeout: 0, notify }),
      _id: 'pay',
    },
    { _id: 'pay-1', type: 'job', flow: 'pay', owner: 'DEFAULT' },
  );
  const waiting = await api.until('pay-1', ({ notifications }) => Array.isArray(notifications));
  const made = waiting['notifications'] as readonly { readonly id: string }[];
  for (const { id } of made) {
    const told = await api.until(id, ({ state }) => state === '$$complete');
    expect(told).toMatchObject({ exit: 0 });
  }
  // Each has a mail of their own, with a link of their own.
  expect(received.length).toBe(2);
  const linkTo = (user: string): string => {
    const mail = received.find(({ raw }) => raw.includes(`To: ${user}@example.com`));
    return /Answer: (\S+)/.exec(unfolded(mail?.raw ?? ''))?.[1] ?? '';
  };
  const link = linkTo('ann');
  expect(linkTo('bob')).toMatch(/\/_tws\/answer\//);
  expect(linkTo('bob')).not.toBe(link);
  expect(link).toMatch(/\/_tws\/answer\/[\w-]+\.[\w-]{43}$/);
  const code = link.split('.').at(-1) ?? '';

  // Programs follow links in mails: that changes nothing.
  for (const method of ['GET', 'GET', 'HEAD'])
    expect((await fetch(link, { method })).status).toBe(200);
  const phone = await openPage(api.url, '/', { width: 360, height: 640, scripts: false, at: link });
  expect(await phone.title()).toBe('Pay <17>');
  const main = await phone.locator('main').boundingBox();
  expect(main?.width).toBeLessThanOrEqual(360);
  await shoot(phone, 'answer-link');
  const seen = await openPage(api.url, '/', { at: link });
  expect(await auditOf(seen)).toEqual([]);

  await phone.getByLabel('Account').fill('7');
  await phone.getByLabel('Approve').check();
  await phone.getByLabel('Comment').fill('fine');
  await phone.getByRole('button', { name: 'Send answer' }).click();
  await phone.getByRole('heading', { name: 'Thank you' }).waitFor();
  const ended = await api.until('pay-1', ({ state }) => state === '$$complete');
  expect(ended).toMatchObject({
    exit: 0,
    steps: [
      {
        form: { answered: { by: 'ann', as: 'link' } },
        result: { approved: true, account: 7, comment: 'fine', by: 'ann', as: 'link' },
      },
      { state: '$$complete' },
    ],
  });

  const again = await fetch(link, { method: 'POST', body: new URLSearchParams({}) });
  expect(again.status).toBe(404);
  expect(await again.text()).toContain('It was used already, has expired, or is not complete.');
  expect(again.headers.get('referrer-policy')).toBe('no-referrer');

  await engine.stop();
  const stored = JSON.stringify(await api.store.range(''));
  expect(stored).toContain('Answer: {{form.link}}');
  expect(stored).not.toContain(code);
  expect(JSON.stringify(api.lines)).not.toContain(code);
});
