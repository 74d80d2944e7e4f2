import { expect, it } from 'vitest';
import { endBrowser, openPage } from './browser.js';
import { desksAndPhones, expectGoodPages, type Look, type PageToSee } from './each-page.js';
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
  const pin = { type: 'string', title: 'PIN', writeOnly: true };
  const why = { type: 'string', title: 'Why', maxLength: 20 };
  const approve = {
    ...{ title: 'Sign it', assignee: 'ann', text: 'Now', due: 'P1D', remind: [0, 'PT8H'] },
    ...{ escalate: { after: 'P2D', group: 'heads' }, form: { properties: { pin } } },
  };
  await api.put(
    flow('ask', [
      { wait: { title: 'A rate', form: { required: ['rate'], properties: { rate } } } },
    ]),
    flow('sign', [{ name: 'sign', approve }]),
    flow('veto', [
      { name: 'veto', approve: { title: 'Veto', form: { minProperties: 2, properties: { why } } } },
    ]),
    flow('text', [
      {
        wait: { title: 'A text', form: { required: ['approved'], properties: { approved: why } } },
      },
    ]),
    { _id: 'ask-1', type: 'job', flow: 'ask', owner: 'DEFAULT' },
    { _id: 'sign-1', type: 'job', flow: 'sign', owner: 'DEFAULT' },
    { _id: 'veto-1', type: 'job', flow: 'veto', owner: 'DEFAULT' },
    { _id: 'text-1', type: 'job', flow: 'text', owner: 'DEFAULT' },
  );
  const page = await openPage(api.url, '/', { expected: /status of 422/ });
  await page.getByRole('link', { name: 'Inbox', exact: true }).click();
  const form = page.getByRole('form', { name: 'Form: A rate' });
  await form.getByRole('button', { name: 'Answer' }).click(soon);
  expect(await form.getByText('This must be filled in.').count()).toBe(1);
  await form.getByLabel('Rate').fill('7');
  await form.getByLabel('Rate').press('Enter');
  await form.waitFor({ state: 'detached', ...soon });
  const ended = await api.until('ask-1', ({ state }) => state === '$$complete');
  expect(ended).toMatchObject({ exit: 0, steps: [{ result: { rate: 7 } }] });

  // No approval is given by Enter alone; a text of that name is no approval.
  const veto = page.getByRole('form', { name: 'Form: Veto' });
  await veto.getByRole('button', { name: 'Refuse' }).click();
  await veto.locator('[role="alert"]:focus').getByText('fewer than 2 properties').waitFor(soon);
  await veto.getByLabel('Why').fill('no money');
  await veto.getByLabel('Why').press('Enter');
  await veto.getByRole('button', { name: 'Refuse' }).click();
  const refused = await api.until('veto-1', ({ state }) => state === '$$complete');
  const failure = { name: 'NotApproved', answer: { approved: false, why: 'no money' } };
  expect(refused).toMatchObject({ exit: 2, steps: [{ failure }] });
  const text = page.getByRole('form', { name: 'Form: A text' });
  expect(await text.getByRole('button').allTextContents()).toEqual(['Answer']);

  await page.goto(`${api.url}/_tws/admin/jobs/sign-1`);
  const sign = page.getByRole('form', { name: 'Form: Sign it' });
  await sign.getByText('for ann').waitFor(soon);
  const asked = page.getByRole('region', { name: 'Asked of people' });
  await asked.getByText(/^Reminded .*, no messages sent$/).waitFor(soon);
  await asked.getByText(/^Escalates .*: the group "heads" may answer as well$/).waitFor();
  const waiting: PageToSee = ['form-waits', '/jobs/sign-1', () => asked.first().waitFor(soon)];
  const [light, , , phone] = desksAndPhones;
  await expectGoodPages(api.url, [waiting], [light, phone] as readonly Look[]);
  await sign.getByLabel('PIN').fill('s3cr3t-pin');
  await sign.getByRole('button', { name: 'Approve' }).click();
  const signed = await api.until('sign-1', ({ state }) => state === '$$complete');
  expect(signed).toMatchObject({ exit: 0, steps: [{ result: { approved: true, as: 'admin' } }] });
  await asked.getByText(/as an administrator .* on the page of the job\.$/).waitFor(soon);
  expect(await page.content()).not.toContain('s3cr3t-pin');
});
