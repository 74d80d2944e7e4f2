import { expect, it } from 'vitest';
import { scrollToEnd, watchFrames } from '../../bench/pages-browser.js';
import { keepChanging, storeEnded } from '../../bench/pages-jobs.js';
import { openApi } from '../http/server.js';
import { bulkSender } from '../../src/store/batch.js';
import { endBrowser, openPage } from './browser.js';

endBrowser();

/* How fast it is, `npm run bench -- --only pages` measures; here only what no slow machine excuses. */

it('scrolls through 10,000 jobs, of which few are in the document, without freezing', async () => {
  const api = await openApi();
  await storeEnded(api.store.connection, 10_000);
  await api.ask('GET', '/jobs?limit=1');
  const page = await openPage(api.url, '/jobs');
  await page.locator('[data-job="job-009999"]').waitFor({ timeout: 240_000 });
  const end = await watchFrames(page);
  await scrollToEnd(page, 10_000);
  expect((await end()).longestTask).toBeLessThan(2_000);
  await page.locator('[data-job="job-000000"]').waitFor();
  await page.getByText('10,000 jobs', { exact: true }).waitFor();
  expect(await page.locator('[data-job]').count()).toBeLessThan(60);
}, 300_000);

it('stays smooth, and right in the end, while 200 jobs change a second', async () => {
  const api = await openApi();
  await storeEnded(api.store.connection, 1_000);
  const page = await openPage(api.url, '/jobs');
  await page.locator('[data-job="job-000999"]').waitFor({ timeout: 240_000 });
  const changes = await keepChanging(api.store.connection, 200);
  await page.locator('[data-job^="live-"]').first().waitFor();
  const end = await watchFrames(page);
  await page.getByLabel('Flow').fill('live');
  const before = changes.made();
  await expect.poll(() => changes.made() - before).toBeGreaterThan(600);
  const { longestTask } = await end();
  await changes.stop();
  expect(longestTask).toBeLessThan(3_000);
  await page.getByText('100 jobs', { exact: true }).waitFor();
}, 300_000);

it('lists 1,000 tasks with who uses each, and the rest of them when asked', async () => {
  const api = await openApi();
  const numbers = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(3, '0'));
  const own = { owner: 'DEFAULT' };
  const docs = numbers.flatMap((n) => [
    { ...own, _id: `task:t${n}`, type: 'task', name: `t${n}`, plugin: 'noop' },
    { ...own, _id: `flow:f${n}`, type: 'flow', name: `f${n}`, tasks: [`t${n}`] },
  ]);
  await bulkSender(api.store.connection)(JSON.stringify({ docs }));
  const page = await openPage(api.url, '/engines');
  await page.getByRole('link', { name: 'Tasks' }).click();
  await page.getByText('1000 tasks', { exact: true }).waitFor();
  await page.getByRole('row', { name: 't499', exact: false }).getByText('f499').waitFor();
  expect(await page.getByRole('row').count()).toBe(501);
  await page.getByRole('button', { name: 'Show all 1000' }).click();
  await page.getByRole('row', { name: 't999', exact: false }).getByText('f999').waitFor();
}, 300_000);
