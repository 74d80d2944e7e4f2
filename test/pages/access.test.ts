import { describe, expect, it } from 'vitest';
import { makeUser } from '../http/server.js';
import { endBrowser, openPage } from './browser.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };
const always = { settings: { sign_in: 'always' } } as const;
/** What the API refuses, browsers note, too. */
const refused = { expected: /40[134]/ };

describe('signing in', () => {
  it('is asked for on every page, tells of a wrong password, and goes on where one wanted to be', async () => {
    const api = await openWorld(always);
    const { name, password } = await makeUser('tws-operator');
    await api.put({ _id: 'j1', type: 'job', flow: 'greet' });
    const page = await openPage(api.url, '/jobs/j1', refused);
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('Name or password is wrong.').waitFor(soon);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'j1' }).waitFor(soon);
    await page.getByText(name).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor(soon);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor(soon);
  });

  it('is asked for again when the session has ended', async () => {
    const api = await openWorld({ ...always, keepMs: 0 });
    const { name, password } = await makeUser('tws-viewer');
    const page = await openPage(api.url, '/engines', refused);
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('No engine is alive').waitFor(soon);
    // An answer that was under way may have brought the cookie back.
    await expect
      .poll(async () => {
        await page.context().clearCookies();
        return page.getByText('Your session has ended.').isVisible();
      })
      .toBe(true);
  });

  it('stays when what the browser preloaded was refused before', async () => {
    const api = await openWorld(always);
    const { name, password } = await makeUser('tws-viewer');
    await api.put({ _id: 'j1', type: 'job', flow: 'greet' });
    const page = await openPage(api.url, '/', refused);
    // The page of the jobs takes the preloaded answer when it is there, which is after the sign-in.
    await page.route(/\/assets\/jobs-[^/]*\.js/, async (route) => {
      await page.getByRole('button', { name: 'Sign out' }).waitFor(soon);
      await route.continue();
    });
    await page.goto(`${api.url}/_tws/admin/jobs`);
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.locator('[data-job="j1"]').waitFor(soon);
    expect(await page.getByText('Your session has ended.').count()).toBe(0);
  });

  it('shows a viewer what he may not do, and why', async () => {
    const api = await openWorld(always);
    const { name, password } = await makeUser('tws-viewer');
    await api.put(
      { _id: 'j1', type: 'job', flow: 'greet' },
      { _id: 'j2', type: 'job', flow: 'greet', owner: 'acme' },
    );
    const page = await openPage(api.url, '/jobs', refused);
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.locator('[data-job="j1"]').waitFor(soon);
    expect(await page.locator('[data-job="j2"]').count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.getByRole('link', { name: 'j1' }).click();
    const cancel = page.getByRole('button', { name: 'Cancel …' });
    await cancel.waitFor(soon);
    expect(await cancel.isDisabled()).toBe(true);
    expect(await cancel.getAttribute('title')).toBe('This needs the role tws-operator.');
    await page.goto(`${api.url}/_tws/admin/jobs/j2`);
    await page.getByText('or it belongs to an owner whose jobs you may not see').waitFor(soon);
  });

  it('tells a user without a role which one he needs', async () => {
    const api = await openWorld(always);
    const { name, password } = await makeUser('staff');
    const page = await openPage(api.url, '/', refused);
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You may not look at anything here' }).waitFor(soon);
    await page.getByText('tws-viewer', { exact: true }).waitFor();
    await page.getByText('the roles staff').waitFor();
  });
});
