import type { Page } from 'playwright-core';
import { describe, it } from 'vitest';
import { endBrowser } from './browser.js';
import { expectGoodPages, type Look } from './each-page.js';
import { cryptoKey, openOrders, replaceText } from './orders.js';

endBrowser();
const soon = { timeout: 240_000 };

const editor = (page: Page) =>
  page
    .locator('.findings')
    .getByText(/Nothing is wrong|\d warning/)
    .waitFor(soon);

/** Each page, what is done on it, and what is there when it is complete. */
const pages: readonly (readonly [
  name: string,
  path: string,
  ready: (page: Page) => Promise<void>,
])[] = [
  ['flows', '/flows', (page) => page.getByText('2 flows').waitFor(soon)],
  ['flow', '/flows/order', editor],
  [
    'flow-wrong',
    '/flows/plain::acme',
    async (page) => {
      await editor(page);
      await replaceText(page, '"parallel"', '"paralel"');
      await page.locator('.cm-lintRange-error').first().waitFor(soon);
    },
  ],
  [
    'flow-proposals',
    '/flows/order',
    async (page) => {
      await editor(page);
      await page.locator('.cm-content').click({ position: { x: 5, y: 10 } });
      await page.keyboard.press('Control+Home');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Control+Space');
      await page.getByRole('listbox').waitFor(soon);
    },
  ],
  ['flow-new', '/flows?new', (page) => page.locator('.cm-lintRange-error').first().waitFor(soon)],
  ['tasks', '/tasks', (page) => page.getByText('3 tasks').waitFor(soon)],
  ['task', '/tasks/mail', editor],
  [
    'submit',
    '/submit/order',
    async (page) => {
      await page.getByRole('button', { name: 'Add' }).click();
      await page.getByText('When, for whom').click();
      await page.getByRole('button', { name: 'Submit', exact: true }).click();
      await page.getByText(/inputs are not right/).waitFor(soon);
    },
  ],
  ['submit-json', '/submit/plain::acme', editor],
];

const looks: readonly Look[] = [
  ['light', { theme: 'light' }],
  ['dark', { theme: 'dark' }],
  ['phone', { theme: 'light', width: 390, height: 844 }],
];

describe('the pages of tasks and flows', () => {
  it('have no serious problem of accessibility, light, dark or on a phone, and are no wider than it', async () => {
    const api = await openOrders();
    await api.engine({ drainMs: 100, cryptoKey });
    // The arrows scroll the proposals while the editor keeps the focus, as ARIA has it.
    const isMeant = (problem: string): boolean => problem.includes('role="listbox"');
    await expectGoodPages(api.url, pages, looks, isMeant);
  }, 300_000);
});
