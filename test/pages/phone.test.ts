import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { endBrowser, openPage } from './browser.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };
const phone = { width: 390, height: 844 };

async function boxOf(what: Locator) {
  const box = await what.boundingBox();
  if (box === null) throw new Error('It is not shown.');
  return box;
}

describe('on a phone', () => {
  it('filters make room for the jobs until they are asked for, and say how many are set', async () => {
    const api = await openWorld();
    await api.put({ _id: 'j1', type: 'job', flow: 'greet' });
    const page = await openPage(api.url, '/jobs?flow=greet', phone);
    const job = page.locator('[data-job="j1"]');
    await job.waitFor(soon);
    expect((await boxOf(job)).y).toBeLessThan(phone.height / 2);
    expect(await page.getByLabel('Flow', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'More filters (1)' }).click();
    expect(await page.getByLabel('Flow', { exact: true }).inputValue()).toBe('greet');
    await page.getByRole('button', { name: 'Fewer filters' }).click();
    expect(await page.getByLabel('Flow', { exact: true }).count()).toBe(0);
  });

  it('what is to be pressed is large enough for a finger', async () => {
    const api = await openWorld();
    await api.put({ _id: 'j1', type: 'job', flow: 'greet' });
    const page = await openPage(api.url, '/jobs', phone);
    const box = page.getByRole('checkbox', { name: 'Select job j1' });
    await box.waitFor(soon);
    const pressed = [box, page.getByRole('link', { name: 'API' })];
    for (const one of pressed) expect((await boxOf(one)).height).toBeGreaterThanOrEqual(24);
    await page.goto(`${api.url}/_tws/admin/jobs/j1`);
    const copy = page.getByRole('button', { name: 'Copy the id' });
    await copy.waitFor(soon);
    expect((await boxOf(copy)).height).toBeGreaterThanOrEqual(24);
  });

  it('the tools of the timeline do not lie over its heading', async () => {
    const api = await openWorld();
    await api.put(jobWithLongWait());
    const page = await openPage(api.url, '/jobs/slow-1', phone);
    await page.getByLabel('Show long waits to scale').waitFor(soon);
    const tools = await boxOf(page.getByRole('group', { name: 'Size of the timeline' }));
    const heading = await boxOf(page.getByRole('heading', { name: 'Timeline' }));
    expect(tools.y).toBeGreaterThanOrEqual(heading.y + heading.height);
  });
});

/** An ended job in which nothing ran for an hour. */
function jobWithLongWait() {
  const start = Date.now() - 7_200_000;
  const steps = [start, start + 3_600_000].map((at, index) => ({
    ...{ index, path: String(index), name: 'echo', task: 'echo', attempt: 1, run: 1 },
    ...{ phase: 'main', plugin: 'noop', engine: 'engine:box-1', pid: 7, claim: `c:${index}` },
    ...{ params: {}, state: '$$complete', exit: 0, result: {} },
    ...{ accepted: at, start: at, end: at + 90 },
  }));
  return {
    ...{ _id: 'slow-1', type: 'job', flow: 'greet', owner: 'DEFAULT', tasks: ['echo', 'echo'] },
    ...{ state: '$$complete', exit: 0, start, end: start + 3_600_090, run: 1, steps },
  };
}
