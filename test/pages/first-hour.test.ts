import { describe, expect, it } from 'vitest';
import { openApi } from '../http/server.js';
import { endBrowser, openPage } from './browser.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };

describe('a project in which nothing is stored yet', () => {
  it('leads from every list to the first step', async () => {
    const api = await openApi();
    const page = await openPage(api.url, '/jobs');
    await page.getByText('There are no jobs yet.').waitFor(soon);
    await page.getByRole('link', { name: 'overview', exact: true }).click();
    await page.getByRole('link', { name: 'write one here' }).click();
    await page.getByRole('heading', { name: 'New flow' }).waitFor(soon);
    for (const kind of ['flow', 'task']) {
      await page.goto(`${api.url}/_tws/admin/${kind}s`);
      await page.getByText(`There are no ${kind}s yet.`).waitFor(soon);
      await page.getByRole('link', { name: `Write the first ${kind}` }).click();
      await page.getByRole('heading', { name: `New ${kind}` }).waitFor(soon);
    }
  });

  it('says that flows are there once there are some', async () => {
    const api = await openWorld();
    const page = await openPage(api.url, '/');
    await page.getByText('Flows are stored already').waitFor(soon);
    await page.getByRole('link', { name: 'one of them' }).click();
    await page.getByRole('link', { name: 'greet', exact: true }).waitFor(soon);
  });

  it.each([
    ['/flows/none', 'flow'],
    ['/submit/none', 'flow'],
    ['/tasks/none', 'task'],
  ])('answers %s with a heading and a way to the others', async (path, kind) => {
    const api = await openWorld();
    const page = await openPage(api.url, path, { expected: /404/ });
    await page.getByRole('heading', { name: `No such ${kind}` }).waitFor(soon);
    await page.getByRole('link', { name: `All ${kind}s` }).click();
    await page.getByRole('heading', { name: kind === 'flow' ? 'Flows' : 'Tasks' }).waitFor(soon);
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
