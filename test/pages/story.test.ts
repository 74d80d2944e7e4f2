import { describe, expect, it } from 'vitest';
import { endBrowser, openPage, shoot } from './browser.js';
import { hold } from './hold.js';
import { cryptoKey, openOrders, replaceText } from './orders.js';

endBrowser();
const soon = { timeout: 240_000 };

describe('somebody who has only the pages', { timeout: 300_000 }, () => {
  // Shows L-07, X-38.
  it('submits a job by a form, sees it fail and why, mends its flow, retries it and sees it succeed', async () => {
    const api = await openOrders();
    await api.engine({ drainMs: 100, cryptoKey });
    const release = await hold(api);
    const page = await openPage(api.url, '/flows');
    const head = page.locator('.page-head');

    await page.getByRole('link', { name: 'Submit a job for order' }).click();
    await page.getByRole('heading', { name: 'Submit order' }).waitFor();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.getByText('2 inputs are not right yet.').waitFor();
    expect(await page.evaluate('document.activeElement.dataset.path')).toBe('params.address');
    await page.getByLabel('Address').fill('12 Elm Street');
    await page.getByLabel('How many').fill('20');
    await page.getByText('It must be 9 or less.').waitFor();
    await page.getByLabel('How many').fill('2');
    await page.getByLabel('Speed').selectOption('fast');
    await shoot(page, 'story-1-form');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();

    await page.locator('.graph .is-active[data-path="1"]').waitFor(soon);
    await head.getByText('running').waitFor();
    await shoot(page, 'story-2-running');
    await release();
    await head.getByText('failed').waitFor(soon);
    const why = page.getByRole('region', { name: 'Why it failed' });
    await why.getByText('The courier was given no address.').waitFor();
    await shoot(page, 'story-3-failed');
    const job = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '');
    expect(await api.client.get(job)).toMatchObject({
      flow: 'order',
      params: { address: '12 Elm Street', count: 2, speed: 'fast' },
      exit: 2,
    });

    await page.getByRole('link', { name: 'Flows' }).click();
    await page.getByRole('link', { name: 'order', exact: true }).click();
    await page.getByRole('textbox', { name: 'JSON of the flow' }).waitFor(soon);
    await page.getByRole('link', { name: job }).waitFor();
    await replaceText(page, 'adress', 'address');
    await page.getByText('Changed, not saved').waitFor();
    await shoot(page, 'story-4-editor');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Stored\./).waitFor();
    expect(JSON.stringify(await api.client.get('flow:DEFAULT:order'))).not.toContain('adress');

    await page.getByRole('link', { name: job }).click();
    await page.getByRole('button', { name: 'Retry with …' }).click();
    const question = page.getByRole('dialog');
    await question.getByLabel(/as they are stored now/).check();
    await question.getByRole('button', { name: 'Retry' }).click();
    await head.getByText('succeeded').waitFor(soon);
    await shoot(page, 'story-5-succeeded');
    expect(await api.client.get(job)).toMatchObject({ exit: 0 });
  });
});
