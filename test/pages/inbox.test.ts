import { expect, it } from 'vitest';
import { endBrowser, openPage } from './browser.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };
const flow = (name: string, tasks: readonly unknown[]) => ({
  ...{ _id: name, type: 'flow', name, owner: 'DEFAULT', timeout: 0, tasks },
});

// Shows X-13.
it('shows the forms that wait for people, and sends what is filled in', async () => {
  const api = await openWorld();
  await api.engine();
  const rate = { type: 'number', title: 'Rate', maximum: 100 };
  await api.put(
    flow('ask', [
      { wait: { title: 'A rate', form: { required: ['rate'], properties: { rate } } } },
    ]),
    flow('sign', [{ name: 'sign', approve: { title: 'Sign it', assignee: 'ann', text: 'Now' } }]),
    { _id: 'ask-1', type: 'job', flow: 'ask', owner: 'DEFAULT' },
    { _id: 'sign-1', type: 'job', flow: 'sign', owner: 'DEFAULT' },
  );
  const page = await openPage(api.url, '/');
  await page.getByRole('link', { name: 'Inbox', exact: true }).click();
  const form = page.getByRole('form', { name: 'Form: A rate' });
  await form.getByRole('button', { name: 'Answer' }).click(soon);
  expect(await form.getByText('This must be filled in.').count()).toBe(1);
  await form.getByLabel('Rate').fill('7');
  await form.getByLabel('Rate').press('Enter');
  await form.waitFor({ state: 'detached', ...soon });
  const ended = await api.until('ask-1', ({ state }) => state === '$$complete');
  expect(ended).toMatchObject({ exit: 0, steps: [{ result: { rate: 7 } }] });

  await page.goto(`${api.url}/_tws/admin/jobs/sign-1`);
  const sign = page.getByRole('form', { name: 'Form: Sign it' });
  await sign.getByText('for ann').waitFor(soon);
  await sign.getByLabel('Approved').check();
  await sign.getByRole('button', { name: 'Answer' }).click();
  const signed = await api.until('sign-1', ({ state }) => state === '$$complete');
  expect(signed).toMatchObject({ exit: 0, steps: [{ result: { approved: true, as: 'admin' } }] });
});
