import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import type { TestApi } from '../http/server.js';
import { endBrowser, openPage } from './browser.js';
import { expectGoodPages } from './each-page.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };

/** Names as long as they get, most of them without a place where a line could end. */
const owner = 'accountingdepartmentofthenorthernbranch'.repeat(6).slice(0, 200);
const solid = 'warehousereconciliation'.repeat(9).slice(0, 200);
const spaced = 'Nightly reconciliation of the warehouse with the ledger '.repeat(4).slice(0, 199);
const id = `job${'A1b2C3d4E5f6G7h8'.repeat(13).slice(0, 197)}`;
const keyOf = (name: string): string => encodeURIComponent(`${name}::${owner}`);

/** Each page, and what is there when it is complete. */
const pages: readonly (readonly [
  name: string,
  path: string,
  ready: (page: Page) => Promise<void>,
])[] = [
  ['overview', '/', (page) => page.getByRole('link', { name: solid }).first().waitFor(soon)],
  ['jobs', '/jobs', (page) => page.locator(`[data-job="${id}"]`).waitFor(soon)],
  [
    'job',
    `/jobs/${id}`,
    (page) => page.getByRole('region', { name: `Step ${solid}` }).waitFor(soon),
  ],
  ['flows', '/flows', (page) => page.getByRole('link', { name: solid }).first().waitFor(soon)],
  ['flow', `/flows/${keyOf(solid)}`, (page) => page.locator('.findings').waitFor(soon)],
  ['tasks', '/tasks', (page) => page.getByRole('link', { name: solid }).first().waitFor(soon)],
  ['task', `/tasks/${keyOf(solid)}`, (page) => page.locator('.findings').waitFor(soon)],
  [
    'submit',
    `/submit/${keyOf(solid)}`,
    (page) => page.getByRole('textbox', { name: solid }).waitFor(soon),
  ],
];

async function store(api: TestApi): Promise<void> {
  const named = (name: string, plugin: string) => ({
    ...task(name, { plugin, owner, description: spaced }),
    _id: `task:${owner}:${name}`,
  });
  await api.put(named(solid, 'gate'), named(spaced, 'noop'), {
    ...flow(solid, [spaced, { name: solid, parallel: [spaced, spaced] }, solid], {
      owner,
      timeout: 0,
      description: spaced,
      schema: { type: 'object', properties: { [solid]: { type: 'string', title: solid } } },
    }),
    _id: `flow:${owner}:${solid}`,
  });
  await api.client.submit({
    ...{ _id: id, type: 'job', flow: solid, owner, target: solid, external_id: solid },
    ...{ tags: [solid, spaced], keys: { [solid]: solid } },
  });
}

describe('names of 200 characters', () => {
  it.each([
    [1440, 900],
    [390, 844],
  ])('stay within a page of %i pixels, and can be read', async (width, height) => {
    const api = await openWorld();
    await store(api);
    await api.engine({ drainMs: 100 });
    await api.ended(id);
    await expectGoodPages(api.url, pages, [[`long-${width}`, { width, height }]]);
  });

  it('leave room for each other in the list of flows', async () => {
    const api = await openWorld();
    await store(api);
    const page = await openPage(api.url, '/flows', { width: 1440 });
    const name = page.getByRole('rowheader', { name: 'approval' });
    await name.waitFor(soon);
    expect((await name.boundingBox())?.width).toBeGreaterThan(180);
    const table = page.getByRole('region', { name: 'Flows' });
    expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(
      0,
    );
  });
});
