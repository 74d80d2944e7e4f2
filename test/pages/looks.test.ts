import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { makeUser } from '../http/server.js';
import { auditOf, endBrowser, openPage, shoot } from './browser.js';
import { expectGoodPages, type Look } from './each-page.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };

/** Each page, and what is there when it is complete. */
const pages: readonly (readonly [
  name: string,
  path: string,
  ready: (page: Page) => Promise<void>,
])[] = [
  ['overview', '/', (page) => page.getByText('Failures by cause').waitFor(soon)],
  ['jobs', '/jobs', (page) => page.locator('[data-job="bad-1"]').waitFor(soon)],
  [
    'jobs-empty',
    '/jobs?flow=none&key=a%3D1',
    (page) => page.getByText('No job matches').waitFor(soon),
  ],
  [
    'job-failed',
    '/jobs/bad-1',
    (page) => page.getByRole('region', { name: 'Step gate' }).waitFor(soon),
  ],
  [
    'job-map',
    '/jobs/map-1',
    async (page) => {
      await page.getByRole('region', { name: 'Step gate' }).waitFor(soon);
      const table = page.getByRole('region', { name: 'Attempts of the steps' });
      await table.getByRole('button', { name: /^for each of/ }).click();
      await table.getByRole('group', { name: /^Items of/ }).waitFor(soon);
    },
  ],
  [
    'job-waiting',
    '/jobs/app-1?tab=history',
    (page) => page.getByText(/waits for the signal/).waitFor(soon),
  ],
  [
    'job-stuck',
    '/jobs/stuck-1?tab=log',
    (page) =>
      page
        .getByText(/sap-connector/)
        .first()
        .waitFor(soon),
  ],
  [
    'job-values',
    '/jobs/good-1?tab=params',
    (page) => page.getByRole('region', { name: 'parameters' }).waitFor(soon),
  ],
  [
    'job-document',
    '/jobs/good-1?tab=document',
    (page) => page.getByRole('region', { name: 'the document' }).waitFor(soon),
  ],
  [
    'job-missing',
    '/jobs/none',
    (page) => page.getByRole('heading', { name: 'No such job' }).waitFor(soon),
  ],
  [
    'engines',
    '/engines',
    async (page) => {
      await page.getByText('slots used').first().waitFor(soon);
      await page.getByRole('heading', { name: 'Limits' }).waitFor(soon);
    },
  ],
  ['no-page', '/nothing/here', (page) => page.getByText('There is no such page.').waitFor(soon)],
];

const looks: readonly Look[] = [
  ['light', { theme: 'light', width: 1440 }],
  ['dark', { theme: 'dark' }],
  ['phone', { theme: 'dark', width: 390, height: 844 }],
];

describe('every page', () => {
  it('has no serious problem of accessibility, light, dark or on a phone, and is no wider than it', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    for (const [_id, flow] of [
      ['good-1', 'greet'],
      ['bad-1', 'gated'],
      ['app-1', 'approval'],
      ['stuck-1', 'stuck'],
      [`a-job-with-a-very-long-id-${'0123456789abcdef'.repeat(5)}`, 'greet'],
    ] as const) {
      await api.client.submit({
        _id,
        type: 'job',
        flow,
        tags: ['nightly'],
        params: { echo: { n: 1 } },
      });
    }
    const list = Array.from({ length: 60 }, (_, i) => ({ ok: ![17, 33, 51].includes(i) }));
    await api.client.submit({ _id: 'map-1', type: 'job', flow: 'each', params: { list } });
    await api.ended('bad-1');
    await api.ended('good-1');
    await api.ended('map-1');
    const known = looks.map(([look, options]): Look => [look, { ...options, expected: /404/ }]);
    await expectGoodPages(api.url, pages, known);
  }, 300_000);

  it('asks for sign-in, and in windows, without such problems, too', async () => {
    const api = await openWorld({ settings: { sign_in: 'always' } });
    const { name, password } = await makeUser('tws-admin');
    await api.engine({ drainMs: 100 });
    await api.put({ _id: 'open-1', type: 'job', flow: 'stuck' });
    // Only of a job that has begun a step can be skipped.
    await api.until('open-1', ({ steps }) => (steps as object[] | undefined)?.length === 1);
    for (const [look, options] of looks) {
      const page = await openPage(api.url, '/jobs/open-1', { ...options, expected: /401/ });
      await page.getByRole('heading', { name: 'Sign in' }).waitFor(soon);
      await shoot(page, `sign-in-${look}`);
      expect([look, await auditOf(page)]).toEqual([look, []]);
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      for (const button of ['Skip a step …', 'Signal …', 'Cancel …']) {
        await page.getByRole('button', { name: button }).click();
        await page.getByRole('dialog').waitFor();
        await shoot(page, `window-${button.split(' ')[0]?.toLowerCase()}-${look}`);
        expect([button, look, await auditOf(page)]).toEqual([button, look, []]);
        await page.keyboard.press('Escape');
      }
    }
  }, 300_000);
});
