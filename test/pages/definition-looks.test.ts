import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi } from '../http/server.js';
import { endBrowser, openPage } from './browser.js';
import { desksAndPhones, expectGoodPages, type Look } from './each-page.js';
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

describe('versions of flows', () => {
  /** An API with three versions of a flow, and a job of the first one that waits. */
  async function openVersions() {
    const api = await openApi();
    const doc = (version: string, tasks: readonly unknown[], more: object = {}) => ({
      ...flow('order', tasks, { timeout: 0, ...more }),
      ...{ _id: `order-${version}`, version },
    });
    const waits = { wait: { signal: 'paid' } };
    await api.put(...['a', 'b', 'c'].map((name) => ({ ...task(name), _id: `task:${name}` })));
    await api.put(doc('1', ['a', waits, 'b'], { current: true }));
    await api.engine({ drainMs: 100 });
    await api.put({ _id: 'order-17', type: 'job', flow: 'order' });
    await api.until('order-17', ({ steps }) => Array.isArray(steps) && steps.length === 2);
    const since = { current_since: Date.now(), current_by: 'ann' };
    await api.put(doc('2', ['a', waits, 'c'], { current: true, timeout: 1, ...since }));
    await api.put(doc('3', ['b']));
    const { body } = await api.ask<{ document: object }>('GET', '/flows/order-1');
    const { current: _current, ...one } = body.document as Record<string, unknown>;
    await api.put({ ...one, current_since: 1_700_000_000_000 });
    return api;
  }

  // Shows X-28.
  it('are listed, compared and made current, and a job moves, all with the keyboard', async () => {
    const api = await openVersions();
    const seen = async (page: Page): Promise<void> => {
      await editor(page);
      await page.getByText('Compare two versions').click();
      await page.locator('.versions + .buttons, .changes').first().waitFor(soon);
      await page.locator('details .changes').first().waitFor(soon);
    };
    const asked = async (page: Page): Promise<void> => {
      await page.getByRole('button', { name: 'Move to version 2' }).click();
      await page.getByText('It can move').waitFor(soon);
    };
    await expectGoodPages(
      api.url,
      [
        ['flow-versions', '/flows/order', seen],
        ['job-move', '/jobs/order-17', asked],
      ],
      desksAndPhones.filter(([look]) => look === 'light' || look === 'phone-dark'),
    );
    const page = await openPage(api.url, '/jobs/order-17', {});
    const press = async (name: string): Promise<void> => {
      const button = page.getByRole('button', { name, exact: true });
      await button.focus();
      await page.keyboard.press('Enter');
    };
    await press('Move to version 2 …');
    await page.getByText('The timeout of the flow (1 ms) is over').waitFor(soon);
    await page.locator('select[name=to]').selectOption('3');
    await page.getByText('step 0 (a) is done').waitFor(soon);
    expect(await page.getByRole('button', { name: 'Move', exact: true }).isDisabled()).toBe(true);
    await page.locator('select[name=to]').selectOption('2');
    await page.getByText('It can move').waitFor(soon);
    await press('Move');
    await page.getByText('The job goes by that version from now on.').waitFor(soon);
    expect(await api.client.get('order-17')).toMatchObject({ flow_version: '2' });
    await page.goto(`${api.url}/_tws/admin/flows/order`);
    await press('Use version 1');
    await page.getByText('New jobs of order get the flow version "1".').waitFor(soon);
    expect(await api.client.get('order-1')).toHaveProperty('current', true);
    await press('Roll back to the one before');
    await page.getByText('New jobs of order get the flow version "2".').waitFor(soon);
    expect(await api.client.get('order-1')).not.toHaveProperty('current');
  }, 300_000);
});
