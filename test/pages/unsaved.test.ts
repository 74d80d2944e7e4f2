import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { endBrowser, openPage, shoot } from './browser.js';
import { editorText, openOrders, replaceText } from './orders.js';

endBrowser();
const soon = { timeout: 240_000 };
const restored = (page: Page) => page.getByText('Your changes that were not saved are here again.');

describe('what was written in the editor and not saved', () => {
  it('is here again after links and keys led to other pages and back', async () => {
    const api = await openOrders();
    const page = await openPage(api.url, '/flows/order');
    const picture = page.locator('.graph');
    await picture.waitFor(soon);
    await replaceText(page, '"task": "bring"', '"task": "brung"');
    await page.getByText('Changed, not saved').waitFor(soon);
    await page.getByText('1 change not saved').click();
    await page.getByText('tasks[1].task: "bring" → "brung"').waitFor();
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByText('Your changes are kept').waitFor(soon);
    await page.goBack();
    await restored(page).waitFor(soon);
    expect(await editorText(page)).toContain('"brung"');
    await shoot(page, 'unsaved');
    for (const key of ['1', '2', '3', '4', '5']) {
      await page.getByRole('heading', { level: 1 }).click();
      await page.keyboard.press(key);
      await restored(page).waitFor({ state: 'detached' });
      await page.goBack();
      await restored(page).waitFor(soon);
      expect(await editorText(page)).toContain('"brung"');
    }
    await page.getByRole('button', { name: 'Undo all changes' }).click();
    await restored(page).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.goBack();
    await page.getByText('Nothing is wrong with it.').waitFor(soon);
    expect(await editorText(page)).toContain('"bring"');
    expect(await restored(page).count()).toBe(0);
  });
});

describe('what was filled in for a job and not submitted', () => {
  it('is here again after links and keys led to other pages and back', async () => {
    const api = await openOrders();
    const page = await openPage(api.url, '/submit/order');
    const again = page.getByText('What you filled in before is here again.');
    const address = page.getByLabel('Address');
    await address.waitFor(soon);
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.goBack();
    await address.waitFor(soon);
    expect(await again.count()).toBe(0);
    await address.fill('Elm Street');
    await page.getByText('When, for whom').click();
    await page.getByLabel('Tags').fill('red');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByText('Your changes are kept').waitFor(soon);
    await page.goBack();
    await again.waitFor(soon);
    await shoot(page, 'submit-restored');
    for (const key of ['1', '2', '3', '4', '5']) {
      await page.getByRole('heading', { level: 1 }).click();
      await page.keyboard.press(key);
      await again.waitFor({ state: 'detached' });
      await page.goBack();
      await again.waitFor(soon);
      expect(await address.inputValue()).toBe('Elm Street');
    }
    await page.getByText('When, for whom').click();
    expect(await page.getByLabel('Tags').inputValue()).toBe('red');
    await page.getByLabel('Speed').selectOption('slow');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.getByText('Submitted.').waitFor(soon);
    await page.goBack();
    await address.waitFor(soon);
    expect(await address.inputValue()).toBe('');
    await address.fill('Oak');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.goBack();
    await page.getByRole('button', { name: 'Begin anew' }).click();
    await again.waitFor({ state: 'detached' });
    expect(await address.inputValue()).toBe('');
  });
});

describe('a part of the pages that cannot be loaded', () => {
  it('says so in its place, and everything else goes on', async () => {
    const api = await openOrders();
    const page = await openPage(api.url, '/', {
      expected: /Failed to (load|fetch)|ERR_FAILED|engines/,
    });
    await page.getByRole('heading', { level: 1 }).waitFor(soon);
    await page.route(/assets\/engines-.*\.js/, (route) => route.abort());
    await page.getByRole('link', { name: 'Engines', exact: true }).click();
    const problem = page.getByRole('alert').filter({ hasText: 'the page could not be loaded' });
    await problem.waitFor(soon);
    await shoot(page, 'part-missing');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor(soon);
    expect(await problem.count()).toBe(0);
    await page.getByRole('link', { name: 'Engines', exact: true }).click();
    await problem.waitFor(soon);
    await page.unroute(/assets\/engines-.*\.js/);
    await problem.getByRole('button', { name: 'Load again' }).click();
    await page.getByText('No engine is alive').waitFor(soon);
  });
});

describe('a request to all jobs that a filter finds', () => {
  it('tells their number and how far it is, also beyond a thousand, and asks each once', async () => {
    const api = await openOrders();
    const jobs = Array.from({ length: 1_203 }, (_, i) => ({
      ...{ _id: `failed-${i}`, type: 'job', flow: 'order', owner: 'DEFAULT', state: '$$complete' },
      ...{ start: 1_700_000_000_000 + i, end: 1_700_000_001_000 + i, exit: 2, steps: [] },
      failure: { name: 'Broken', message: 'It broke.' },
    }));
    await api.put(...jobs);
    const page = await openPage(api.url, '/', { width: 1440, expected: /500/ });
    const cause = page.getByRole('region', { name: 'Failures by cause' }).getByRole('listitem');
    await cause.filter({ hasText: 'Broken 1,203 in 1 flow' }).waitFor(soon);
    await cause.getByRole('button', { name: 'Retry all …' }).click();
    const asked = page.getByRole('dialog', { name: 'Retry 1,203 jobs that failed with Broken?' });
    await asked.getByLabel('Why (kept in the jobs)').fill('not yet');
    const away = { error: 'away', reason: 'The causes are away.', hint: '' };
    await page.route('**/_tws/failures', (route) => route.fulfill({ status: 500, json: away }));
    await page.getByText('The causes are away.').waitFor(soon);
    expect(await asked.getByLabel('Why (kept in the jobs)').inputValue()).toBe('not yet');
    await page.unroute('**/_tws/failures');
    await asked.getByText('Close', { exact: true }).click();
    await page.getByText('The causes are away.').waitFor({ state: 'detached', ...soon });
    await page.getByRole('link', { name: 'Broken' }).click();
    await page.waitForURL('**/jobs?status=failed&failure=Broken');
    await page.goto(`${api.url}/_tws/admin/jobs?status=failed`);
    await page.getByRole('checkbox', { name: /failed-1202/ }).check(soon);
    await page.getByRole('button', { name: 'Retry all' }).click();
    const question = page.getByRole('dialog', { name: 'Retry all 1,203 failed jobs' });
    await question.waitFor(soon);
    await question.getByRole('button', { name: 'Retry all' }).click();
    await page.getByText('1,203 of 1,203 jobs').waitFor(soon);
    await page.getByText('1,203 stored; an engine will carry them out.').waitFor(soon);
    await shoot(page, 'bulk-done');
    await page.getByRole('button', { name: 'Done' }).click();
    const requests = await api.store.view('requests', { limit: 2_000 });
    expect(new Set(requests.map(({ id }) => id.split(':')[1])).size).toBe(1_203);
    expect(requests).toHaveLength(1_203);
  });
});
