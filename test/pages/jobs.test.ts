import { describe, expect, it } from 'vitest';
import { endBrowser, openPage } from './browser.js';
import { hold } from './hold.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };

describe('the list of jobs', () => {
  it('shows a job that is submitted, runs and succeeds, while somebody looks', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    const page = await openPage(api.url, '/jobs');
    await page.getByText('There are no jobs yet.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const release = await hold(api);
    await api.client.submit({ _id: 'g1', type: 'job', flow: 'greet' });
    const row = page.locator('[data-job="g1"]');
    await row.getByText('running').waitFor(soon);
    await release();
    await row.getByText('succeeded').waitFor(soon);
    await page.getByRole('button', { name: 'succeeded 1' }).waitFor(soon);
  });

  it('keeps what it is filtered by in the address, also after going back', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    await api.client.submit({ _id: 'bad-1', type: 'job', flow: 'gated', tags: ['x'] });
    await api.client.submit({ _id: 'good-1', type: 'job', flow: 'long', keys: { day: 7 } });
    await api.ended('bad-1');
    const page = await openPage(api.url, '/jobs', { expected: /404/ });
    await page.getByRole('button', { name: /^failed/ }).click();
    await page.locator('[data-job="good-1"]').waitFor({ state: 'detached', ...soon });
    expect(new URL(page.url()).search).toBe('?status=failed');
    await page.getByLabel('Flow').fill('gated');
    await expect.poll(() => new URL(page.url()).search, soon).toBe('?status=failed&flow=gated');
    await page.locator('[data-job="bad-1"]').waitFor();
    await page.goBack();
    await page.goBack();
    await page.locator('[data-job="good-1"]').waitFor(soon);
    await page.getByLabel('Find a job').fill('day=7');
    await page.keyboard.press('Enter');
    await page.locator('[data-job="bad-1"]').waitFor({ state: 'detached', ...soon });
    await page.getByLabel('Find a job').fill('good-1');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/jobs/good-1');
    await page.goto(`${api.url}/_tws/admin/jobs`);
    const find = page.getByLabel('Find a job');
    await find.fill('text:"gate is closed" status:failed');
    await page.keyboard.press('Enter');
    await page.locator('[data-job="bad-1"]').waitFor(soon);
    await page.locator('[data-job="good-1"]').waitFor({ state: 'detached', ...soon });
    await find.fill('status:broken');
    await page.keyboard.press('Enter');
    await page.getByText('There is no status "broken"; the statuses are').waitFor();
    await find.fill('goo');
    await page.keyboard.press('Enter');
    await page.locator('[data-job="good-1"]').waitFor(soon);
    expect(new URL(page.url()).search).toBe('?id_prefix=goo');
    await page.goto(`${api.url}/_tws/admin/jobs?tag=y`);
    await page.getByText('No job matches.').waitFor();
  });

  it('is sorted by its columns, or by a choice on a phone, which the address keeps', async () => {
    const api = await openWorld();
    for (const _id of ['b-2', 'b-10', 'a']) {
      await api.client.submit({ _id, type: 'job', flow: 'long' });
    }
    const page = await openPage(api.url, '/jobs');
    await page.locator('[data-job="a"]').waitFor(soon);
    const shown = async () => {
      const rows = await page.locator('[data-job]').all();
      return Promise.all(rows.map((row) => row.getAttribute('data-job')));
    };
    await page.getByRole('button', { name: 'Job', exact: true }).click();
    await expect.poll(shown, soon).toEqual(['a', 'b-2', 'b-10']);
    expect(new URL(page.url()).search).toBe('?sort=id');
    const head = page.getByRole('columnheader', { name: 'Job', exact: true });
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await page.getByRole('button', { name: 'Job', exact: true }).click();
    await expect.poll(shown, soon).toEqual(['b-10', 'b-2', 'a']);
    await page.getByLabel('Flow').fill('long');
    await expect.poll(() => new URL(page.url()).search, soon).toBe('?flow=long&sort=-id');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByLabel('Order of the jobs').selectOption('by id');
    await expect.poll(shown, soon).toEqual(['a', 'b-2', 'b-10']);
  });

  it('shows the columns that somebody chooses, which the address keeps', async () => {
    const api = await openWorld();
    const keys = { order: 'A-77' };
    await api.client.submit({ _id: 'g1', type: 'job', flow: 'greet', keys, priority: 7 });
    const page = await openPage(api.url, '/jobs');
    const row = page.locator('[data-job="g1"]');
    await row.waitFor(soon);
    await page.getByText('Columns', { exact: true }).click();
    await page.getByLabel('Priority').check();
    await page.getByLabel('Owner', { exact: true }).last().uncheck();
    await page.getByLabel('order', { exact: true }).check();
    await page.getByLabel('Name of a search key').fill('day');
    await page.getByRole('button', { name: 'Add' }).click();
    const names = () => page.getByRole('columnheader').allInnerTexts();
    const chosen = ['Flow', 'Now, or why it failed', 'Began', 'Took', 'Priority', 'order', 'day'];
    await expect.poll(names, soon).toEqual(['', 'Status', 'Job', ...chosen]);
    await row.getByText('A-77').waitFor();
    const { search } = new URL(page.url());
    expect(search).toBe('?columns=flow%2Cnow%2Cstarted%2Ctook%2Cpriority%2Ckey.order%2Ckey.day');
    await page.keyboard.press('Escape');
    await page.getByLabel('Priority').waitFor({ state: 'hidden' });
    await page.reload();
    await row.getByText('A-77').waitFor(soon);
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('button', { name: 'Usual columns' }).click();
    await expect.poll(() => new URL(page.url()).search, soon).toBe('');
    await page.setViewportSize({ width: 390, height: 844 });
    await row.waitFor(soon);
    expect(await page.getByText('Columns', { exact: true }).isVisible()).toBe(false);
  });

  it('are found again by the names that somebody gave to lists', async () => {
    const api = await openWorld();
    await api.client.submit({ _id: 'g1', type: 'job', flow: 'greet' });
    const page = await openPage(api.url, '/jobs?flow=greet&sort=-id');
    await page.locator('[data-job="g1"]').waitFor(soon);
    await page.getByText('Saved lists', { exact: true }).click();
    await page.getByLabel('Name of this list').fill('Greetings');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('List: Greetings').waitFor();
    await page.goto(`${api.url}/_tws/admin/jobs`);
    await page.getByText('Saved lists', { exact: true }).click();
    await page.getByRole('link', { name: 'Greetings' }).click();
    await expect.poll(() => new URL(page.url()).search, soon).toBe('?flow=greet&sort=-id');
    await page.getByText('List: Greetings').click();
    await page.getByRole('button', { name: 'Remove the list Greetings' }).click();
    await page.getByText('Give a filter, with its order and columns, a name').waitFor();
  });

  it('asks for older jobs no more after an error, until somebody wants it', async () => {
    const api = await openWorld();
    await api.client.submit({ _id: 'g1', type: 'job', flow: 'greet' });
    const page = await openPage(api.url, '/engines', { expected: /500/ });
    let asked = 0;
    await page.route(/_tws\/jobs\?/, async (route) => {
      if (!route.request().url().includes('cursor=')) {
        return route.fulfill({ json: { jobs: [], cursor: 'older' } });
      }
      asked += 1;
      return route.fulfill({ status: 500, json: { error: 'x', reason: 'It broke.', hint: '' } });
    });
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByText('It broke.').waitFor(soon);
    await page.getByText('live', { exact: true }).waitFor(soon);
    // A list that asks whenever it is drawn has asked dozens of times by then.
    await page.evaluate(
      '(async () => { for (let n = 0; n < 60; n += 1) await new Promise(requestAnimationFrame); })()',
    );
    expect(asked).toBeLessThan(5);
    await page.unroute(/_tws\/jobs\?/);
    await page.route(/_tws\/jobs\?/, (route) => {
      const url = new URL(route.request().url());
      url.searchParams.delete('cursor');
      return route.continue({ url: url.href });
    });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('[data-job="g1"]').waitFor(soon);
    await page.getByText('It broke.').waitFor({ state: 'detached' });
  });

  it('cancels many at once, after it asked, and tells what became of them', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    const ids = ['l1', 'l2', 'l3', 'l4'];
    for (const _id of ids) await api.client.submit({ _id, type: 'job', flow: 'long' });
    for (const id of ids) await api.until(id, ({ steps }) => (steps as object[])?.length === 2);
    const page = await openPage(api.url, '/jobs');
    for (const id of ids.slice(0, 3)) await page.getByLabel(`Select job ${id}`).check();
    await page.getByText('3 jobs selected').waitFor();
    await page.getByRole('button', { name: 'Cancel jobs' }).click();
    const question = page.getByRole('dialog');
    await question.getByLabel('Why (kept in the jobs)').fill('wrong list');
    await question.getByRole('button', { name: 'Cancel 3 jobs' }).click();
    await page.getByText(/3 (?:cancelled|stored)/).waitFor(soon);
    await page.getByRole('button', { name: 'Done' }).click();
    for (const id of ids.slice(0, 3)) {
      await page.locator(`[data-job="${id}"]`).getByText('cancelled').waitFor(soon);
      expect(await api.store.get(id)).toMatchObject({
        state: '$$cancelled',
        cancel: { reason: 'wrong list' },
      });
    }
    expect(await page.locator('[data-job="l4"]').getByText('running').count()).toBe(1);
  });

  it('goes by keys from job to job, selects and opens them', async () => {
    const api = await openWorld();
    for (const n of [1, 2, 3]) {
      await api.put({
        ...{ _id: `k${n}`, type: 'job', flow: 'greet', owner: 'DEFAULT', state: '$$complete' },
        ...{ exit: 0, start: n * 1_000, end: n * 1_000 + 10, steps: [] },
      });
    }
    const page = await openPage(api.url, '/jobs');
    await page.locator('[data-job="k3"]').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.locator('.job-row.at').getAttribute('data-job')).toBe('k2');
    await page.keyboard.press('x');
    await page.getByText('1 job selected').waitFor();
    await page.keyboard.press('k');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Next job').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('jk');
    expect(await page.getByLabel('Find a job').inputValue()).toBe('jk');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/jobs/k3');
  });
});
