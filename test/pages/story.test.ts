import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { endBrowser, openPage, shoot } from './browser.js';
import { hold } from './hold.js';
import { cryptoKey, openOrders } from './orders.js';

endBrowser();
const soon = { timeout: 240_000 };

/** So many fields, links and buttons there are at most. */
const mostStops = 300;

/** Goes on by the Tab key until something has the focus. */
async function reach(wanted: Locator): Promise<void> {
  const page = wanted.page();
  await wanted.waitFor(soon);
  for (let stops = 0; stops < mostStops; stops += 1) {
    if ((await wanted.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The Tab key does not lead to ${String(wanted)}.`);
}

async function press(wanted: Locator, key = 'Enter'): Promise<void> {
  await reach(wanted);
  await wanted.page().keyboard.press(key);
}

/** Types in place of what a field has. */
async function type(field: Locator, text: string): Promise<void> {
  await reach(field);
  await field.page().keyboard.press('ControlOrMeta+a');
  await field.page().keyboard.type(text);
}

describe('somebody who has only the pages', { timeout: 300_000 }, () => {
  // Shows L-07, X-38.
  it('submits a job by a form, sees it fail and why, mends its flow, retries it and sees it succeed, with the keyboard alone', async () => {
    const api = await openOrders();
    await api.engine({ drainMs: 100, cryptoKey });
    const release = await hold(api);
    const page = await openPage(api.url, '/flows');
    const head = page.locator('.page-head');

    await press(page.getByRole('link', { name: 'Submit a job for order' }));
    await page.getByRole('heading', { name: 'Submit order' }).waitFor();
    await press(page.getByRole('button', { name: 'Submit', exact: true }));
    await page.getByText('2 inputs are not right yet.').waitFor();
    await page.locator('[data-path="params.address"]:focus').waitFor();
    await type(page.getByLabel('Address'), '12 Elm Street');
    await type(page.getByLabel('How many'), '20');
    await page.getByText('It must be 9 or less.').waitFor();
    await type(page.getByLabel('How many'), '2');
    await type(page.getByLabel('Speed'), 'fast');
    await shoot(page, 'story-1-form');
    await press(page.getByRole('button', { name: 'Submit', exact: true }));

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

    await press(page.getByRole('link', { name: 'Flows' }));
    await press(page.getByRole('link', { name: 'order', exact: true }));
    await page.getByRole('textbox', { name: 'JSON of the flow' }).waitFor(soon);
    await page.getByRole('link', { name: job }).waitFor();
    await reach(page.getByRole('textbox', { name: 'JSON of the flow' }));
    await page.keyboard.press('ControlOrMeta+f');
    await type(page.getByPlaceholder('Find'), 'adress');
    await type(page.getByPlaceholder('Replace'), 'address');
    await press(page.getByRole('button', { name: 'replace all' }));
    await page.getByText('Changed, not saved').waitFor();
    await shoot(page, 'story-4-editor');
    // The first closes the search, the second lets Tab leave the editor.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await press(page.getByRole('button', { name: 'Save' }));
    await page.getByText(/^Stored\./).waitFor();
    expect(JSON.stringify(await api.client.get('flow:DEFAULT:order'))).not.toContain('adress');

    await press(page.getByRole('link', { name: job }));
    await press(page.getByRole('button', { name: 'Retry with …' }));
    const question = page.getByRole('dialog');
    await press(question.getByLabel(/as they are stored now/), 'Space');
    await press(question.getByRole('button', { name: 'Retry' }));
    await head.getByText('succeeded').waitFor(soon);
    await shoot(page, 'story-5-succeeded');
    expect(await api.client.get(job)).toMatchObject({ exit: 0 });
  });
});
