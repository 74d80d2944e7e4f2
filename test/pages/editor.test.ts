import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { makeUser } from '../http/server.js';
import { endBrowser, openPage } from './browser.js';
import { cryptoKey, editorText, openOrders, order, replaceText } from './orders.js';

endBrowser();
const soon = { timeout: 240_000 };
const long = { timeout: 240_000 };

const text = (page: Page) => page.locator('.cm-content');
const isInEditor = (page: Page) =>
  page.evaluate<boolean>("document.activeElement.matches('.cm-content')");
const findings = (page: Page) => page.locator('.findings');

describe('the editor of a flow', long, () => {
  it('marks what the schema and the server find, at its place, and leads there', async () => {
    const api = await openOrders();
    const page = await openPage(api.url, '/flows/order');
    await findings(page).getByText('Nothing is wrong with it.').waitFor(soon);
    await replaceText(page, '"task": "bring"', '"task": "brung"');
    const warning = findings(page).getByText(/names the task "brung", which is not defined/);
    await warning.waitFor(soon);
    await page.locator('.cm-lintRange-warning', { hasText: '"brung"' }).waitFor();
    await page.getByText('no such task').waitFor();
    await replaceText(page, '"owner": "DEFAULT"', '"owner": 7');
    await findings(page)
      .getByText(/^error: owner must be a name/)
      .waitFor(soon);
    expect(await page.locator('.cm-lintRange-error').allTextContents()).toEqual(['7']);
    await page.getByText('The text is no valid flow at the moment').waitFor();
    await findings(page)
      .getByRole('button', { name: /owner must be a name/ })
      .click();
    await page.keyboard.press('Delete');
    await page.keyboard.type('"DEFAULT"');
    await findings(page).getByText('1 warning.').waitFor(soon);
    await replaceText(page, '"brung"', '"bring",');
    await findings(page)
      .getByText(/key in double quotes/)
      .first()
      .waitFor(soon);
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Undo all changes' }).click();
    await findings(page).getByText('Nothing is wrong with it.').waitFor(soon);
    expect(JSON.parse(await editorText(page))).toEqual(order);
  });

  it('proposes keys, words and names, and is left with Escape and Tab', async () => {
    const api = await openOrders();
    const page = await openPage(api.url, '/flows/order');
    await replaceText(page, '"pack",', '"pack", ');
    await page.locator('.graph [data-path="1"]').click();
    await page.keyboard.press('End');
    await page.keyboard.type('\n"on');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('er');
    const list = page.getByRole('listbox');
    await list.getByRole('option', { name: /^error/ }).waitFor();
    // What has just appeared is not taken yet: somebody may mean the line break.
    await page.waitForTimeout(200);
    await page.keyboard.press('Enter');
    // Its value is a name of a task: those that are known are proposed at once.
    await list.getByRole('option', { name: /^mail/ }).waitFor();
    await page.keyboard.type('ma');
    await page.waitForTimeout(200);
    await page.keyboard.press('Enter');
    expect(await editorText(page)).toContain('"error": "mail",');
    await page.locator('.graph').getByText('on error').waitFor(soon);
    await page.keyboard.press('Tab');
    expect(await isInEditor(page)).toBe(true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await isInEditor(page)).toBe(false);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Stored/).waitFor();
    expect(await api.client.get('flow:DEFAULT:order')).toMatchObject({
      tasks: ['pack', { task: 'bring', error: 'mail' }],
    });
  });

  it('does not overwrite what somebody else stored: both changes are put together', async () => {
    const api = await openOrders();
    const page = await openPage(api.url, '/flows/order', { expected: /409|404|412/ });
    await replaceText(page, 'Packs a parcel', 'Packs two parcels');
    const change = async (part: object): Promise<void> => {
      const { body } = await api.ask<{ rev: string }>('GET', '/flows/order');
      const headers = { 'if-match': body.rev };
      const done = await api.ask('PUT', '/flows/order', { body: { ...order, ...part }, headers });
      expect(done.status).toBe(200);
    };
    await change({ timeout: 90_000, description: 'Theirs.' });
    await page.getByRole('button', { name: 'Save' }).click();
    const box = page.getByRole('region', { name: 'Somebody else has stored it meanwhile' });
    await box.getByText('timeout', { exact: true }).waitFor();
    await box.getByText(/Both of you changed/).waitFor();
    await box.getByRole('button', { name: 'Put both together' }).click();
    expect(JSON.parse(await editorText(page))).toMatchObject({
      timeout: 90_000,
      description: 'Packs two parcels and brings it to somebody.',
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Stored/).waitFor();
    await change({ description: 'Theirs again.' });
    await replaceText(page, 'two parcels', 'three parcels');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Store mine over it' }).click();
    await page.getByText('Changed, not saved').waitFor({ state: 'detached' });
    expect(await api.client.get('flow:DEFAULT:order')).toMatchObject({
      description: 'Packs three parcels and brings it to somebody.',
    });
    await api.client.remove(
      'flow:DEFAULT:order',
      (await api.client.get('flow:DEFAULT:order'))?._rev ?? '',
    );
    await replaceText(page, 'three parcels', 'four parcels');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else has removed it meanwhile.').waitFor();
  });
});

describe('tasks and flows', long, () => {
  it('are made, copied, switched off and removed', async () => {
    const api = await openOrders();
    const page = await openPage(api.url, '/tasks?new', { expected: /422|404/ });
    await text(page).waitFor(soon);
    await replaceText(page, '"name": ""', '"name": "tell"');
    await replaceText(page, '"plugin": ""', '"plugin": "noop"');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'tell' }).waitFor();
    expect(await api.client.get('task:DEFAULT:tell')).toMatchObject({ plugin: 'noop' });

    await page.goto(`${api.url}/_tws/admin/flows/order`);
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Copy of order' }).waitFor();
    await replaceText(page, '"pack"', '"tell"');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'order-2' }).waitFor();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('It is disabled: new jobs for it fail').waitFor();
    await page.getByRole('link', { name: 'tell' }).click();
    await page.getByRole('link', { name: 'order-2' }).waitFor();
    await page.getByRole('button', { name: 'Remove …' }).click();
    await page.getByText('It is used by order-2.').waitFor();
    await page.getByRole('button', { name: 'Leave it as it is' }).click();

    await page.getByRole('link', { name: 'Flows' }).click();
    await page.getByLabel('State').selectOption('disabled');
    await page.getByText('2 of 3 flows').waitFor();
    await page.getByLabel('Search').fill('order');
    await page.getByText('1 of 3 flows').waitFor();
    await page.getByRole('button', { name: 'Enable order-2' }).click();
    await page.getByText('0 of 3 flows').waitFor();
    await page.getByLabel('State').selectOption('');
    await page.getByRole('link', { name: 'order-2', exact: true }).click();
    await page.getByRole('button', { name: 'Remove …' }).click();
    await page.getByRole('button', { name: 'Remove it' }).click();
    await page.getByText('2 flows', { exact: true }).waitFor();
    expect(await api.client.get('flow:DEFAULT:order-2')).toBeUndefined();
  });

  it('never show a secret, and keep it when they are stored', async () => {
    const api = await openOrders();
    const before = await api.client.get('task:DEFAULT:mail');
    const page = await openPage(api.url, '/tasks/mail');
    await text(page).getByText('encrypted').waitFor(soon);
    await text(page).getByText('secret, not shown').waitFor();
    expect(await page.content()).not.toContain('hunter');
    await page.getByText('2 values of it are not shown').waitFor();
    await replaceText(page, 'a@b.c', 'x@y.z');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Stored/).waitFor();
    const params = before?.['params'] as object;
    expect(await api.client.get('task:DEFAULT:mail')).toMatchObject({
      params: { ...params, to: 'x@y.z' },
    });
  });

  it('are only looked at by a viewer', async () => {
    const api = await openOrders({ settings: { sign_in: 'always' } });
    const { name, password } = await makeUser('tws-viewer');
    const page = await openPage(api.url, '/flows/order', { expected: /401/ });
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await text(page).waitFor(soon);
    await text(page).click();
    await page.keyboard.type('x');
    expect(JSON.parse(await editorText(page))).toEqual(order);
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    expect(await page.getByRole('link', { name: 'Duplicate' }).count()).toBe(0);
    await page.goto(`${api.url}/_tws/admin/submit/order`);
    const submit = page.getByRole('button', { name: 'Submit', exact: true });
    await submit.waitFor();
    expect(await submit.isDisabled()).toBe(true);
  });
});

describe('submitting', long, () => {
  it('takes lists, kinds and JSON, tells what the server warns of, and says when it is to begin', async () => {
    const api = await openOrders();
    const page = await openPage(api.url, '/submit/order');
    await page.getByLabel('Address').fill('Elm');
    await page.getByLabel('Speed').selectOption('slow');
    const extras = page.getByRole('group', { name: 'Extras' });
    for (const [i, extra] of ['card', 'bow', 'tape'].entries()) {
      await extras.getByRole('button', { name: 'Add' }).click();
      await extras.getByRole('textbox', { name: `Extras ${i + 1}` }).fill(extra);
    }
    await extras.getByRole('button', { name: 'Up: Extras 3' }).click();
    await extras.getByRole('button', { name: 'Remove Extras 1' }).click();
    await page.getByLabel('It is a gift').check();
    await page.getByLabel('Kind').selectOption('Card');
    await page.getByLabel('No').fill('17');
    await page.getByLabel('More').fill('{"any": [1');
    await page.getByText('When, for whom').click();
    await page.getByLabel('After a delay').check();
    await page.getByLabel('Delay', { exact: true }).fill('2');
    await page.getByLabel('Unit of the delay').selectOption('days');
    await page.getByLabel('Priority').fill('5');
    await page.getByLabel('Tags').fill('red, green');
    await page.getByLabel('Search keys').fill('order=17');
    await page.getByLabel('Idempotency key').fill('once');
    const submit = page.getByRole('button', { name: /^Submit/ });
    await submit.click();
    await page.getByText(/It must be JSON/).waitFor();
    await page.getByLabel('More').fill('{"any": [1]}');
    await page.getByRole('button', { name: 'As JSON' }).click();
    await text(page).waitFor(soon);
    await replaceText(page, '"gift": true', '"gift": "yes"');
    await submit.click();
    await page
      .getByText(/params.gift must be boolean/)
      .last()
      .waitFor();
    await page.getByText('It is allowed, and perhaps not meant').waitFor();
    await page.getByRole('button', { name: 'As a form' }).click();
    await page.getByLabel('It is a gift').check();
    const before = Date.now();
    await submit.click();
    await page.getByText('Submitted.').waitFor(soon);
    const { jobs } = (await api.ask<{ jobs: { id: string }[] }>('GET', '/jobs')).body;
    expect(jobs).toHaveLength(1);
    const job = await api.client.get(jobs[0]?.id ?? '');
    expect(job).toMatchObject({
      flow: 'order',
      priority: 5,
      tags: ['red', 'green'],
      keys: { order: '17' },
      params: {
        address: 'Elm',
        count: 1,
        speed: 'slow',
        extras: ['tape', 'bow'],
        gift: true,
        pay: { no: '17' },
        more: { any: [1] },
      },
    });
    expect(Number(job?.['exec_after'])).toBeGreaterThanOrEqual(before + 172_800_000 - 5_000);
    await page.goto(`${api.url}/_tws/admin/submit/order?again=${jobs[0]?.id ?? ''}`);
    await page.getByRole('textbox', { name: 'Extras 2' }).waitFor();
    expect(await page.getByLabel('Address').inputValue()).toBe('Elm');
  });

  it('is done with JSON where the flow has no schema', async () => {
    const api = await openOrders();
    await api.engine({ drainMs: 100, cryptoKey });
    const page = await openPage(api.url, '/submit/plain::acme');
    await page.getByText('The flow has no "schema"').waitFor();
    await page.getByText('The flow is disabled').waitFor();
    await text(page).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /^mail/ }).first().waitFor();
    await page.keyboard.type('"mial": {}');
    await findings(page)
      .getByText(/params.mial names no step/)
      .waitFor(soon);
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.getByRole('button', { name: 'Submit nevertheless' }).click();
    await page.locator('.page-head').getByText('failed').waitFor(soon);
  });
});
