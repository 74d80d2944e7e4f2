import { describe, expect, it } from 'vitest';
import { endBrowser, openPage } from './browser.js';
import { desksAndPhones, expectGoodPages, type Look, type PageToSee } from './each-page.js';
import { hold } from './hold.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };

describe('the page of a job', () => {
  // Shows X-38.
  it('is watched while it runs', async () => {
    const api = await openWorld();
    await api.client.submit({ _id: 'g1', type: 'job', flow: 'greet' });
    const page = await openPage(api.url, '/jobs/g1');
    await page.getByText('Why it is not moving').waitFor(soon);
    await page
      .getByText(/No engine/)
      .first()
      .waitFor(soon);
    const release = await hold(api);
    await api.engine({ drainMs: 100 });
    const nap = page.locator('.graph [data-path="1"]');
    await page.locator('.graph .is-active[data-path="1"]').waitFor(soon);
    expect(await nap.getAttribute('aria-label')).toContain('active');
    await page
      .getByRole('region', { name: 'Why it is not moving' })
      .getByText(/Step "nap"/)
      .waitFor(soon);
    await release();
    await page.locator('.page-head').getByText('succeeded').waitFor(soon);
    expect(await page.locator('.graph .is-done[role=button]').count()).toBe(3);
    expect(await page.locator('.timeline li').count()).toBe(3);
  });

  it('tells why a job failed, and lets it be retried with other parameters until it succeeds', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    await api.client.submit({ _id: 'g1', type: 'job', flow: 'gated' });
    await api.ended('g1');
    const page = await openPage(api.url, '/jobs/g1');
    const why = page.getByRole('region', { name: 'Why it failed' });
    await why.getByText('The gate is closed: params.ok is not true.').waitFor();
    const step = page.getByRole('region', { name: 'Step gate' });
    await step.getByText('The gate is asked.').waitFor();
    await page.getByRole('button', { name: 'Retry with …' }).click();
    const question = page.getByRole('dialog');
    await question.getByLabel(/Parameters of the job/).fill('{ "gate": ');
    await question.getByRole('button', { name: 'Retry' }).click();
    await question.getByText(/The parameters must be JSON/).waitFor();
    await question.getByLabel(/Parameters of the job/).fill('{ "gate": { "ok": true } }');
    await question.getByRole('button', { name: 'Retry' }).click();
    await page.locator('.page-head').getByText('succeeded').waitFor(soon);
    await page.locator('.graph .is-done[data-path="1"]').click();
    await step.getByText('attempt 2').waitFor();
    await step.getByText('attempt 1').waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page
      .getByRole('cell', { name: /Step Failed/ })
      .first()
      .waitFor();
    await page.getByLabel('Filter').fill('StepFailed gate');
    await page.getByText(/^1 of \d+ events$/).waitFor();
    await page.getByRole('button', { name: 'Step Failed' }).click();
    await page
      .getByRole('region', { name: 'event Step Failed' })
      .getByText(/closed/)
      .waitFor();
    await page.getByRole('link', { name: 'Download' }).waitFor();
    await page.getByRole('button', { name: 'Note …' }).click();
    await question.getByLabel('Note').fill('looked at it');
    await question.getByRole('button', { name: 'Note it' }).click();
    await question.waitFor({ state: 'detached', ...soon });
    await page.getByLabel('Filter').fill('looked at it');
    await page.getByText(/^1 of \d+ events$/).waitFor(soon);
    await page.getByRole('tab', { name: 'Document' }).click();
    await page
      .getByRole('region', { name: 'the document' })
      .getByText('$$complete')
      .first()
      .waitFor();
    expect(new URL(page.url()).search).toBe('?step=1&tab=document');
  });

  it('leads to the items of a map: by what failed, by number, and from one to the next', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    const list = Array.from({ length: 60 }, (_, i) => ({ ok: ![17, 33, 51].includes(i), n: i }));
    await api.client.submit({ _id: 'm1', type: 'job', flow: 'each', params: { list } });
    await api.ended('m1');
    const page = await openPage(api.url, '/jobs/m1', { width: 1440 });
    const why = page.getByRole('region', { name: 'Why it failed' });
    await why.getByText('3 of 60 items failed (2 % tolerated): item 17: The gate').waitFor(soon);
    const panel = page.getByRole('region', { name: 'Step gate' });
    expect(await panel.getAttribute('data-path')).toBe('1.map.17');
    await panel.getByRole('region', { name: 'the value of item 17' }).getByText('17').waitFor();
    await panel.getByLabel('Failed only (3)').check();
    await panel.getByRole('button', { name: 'Next item' }).click();
    expect(await panel.getAttribute('data-path')).toBe('1.map.33');
    const timeline = page.locator('.timeline');
    expect(await timeline.locator('li').count()).toBe(2);
    await timeline.getByRole('button', { name: /^for each of/ }).focus();
    await page.keyboard.press('Enter');
    const items = timeline.getByRole('group', { name: /^Items of/ });
    expect(await timeline.getByRole('button', { name: /^item/ }).count()).toBe(3);
    await items.getByRole('button', { name: 'succeeded 57' }).click();
    await timeline.getByRole('button', { name: 'Show more of the 7 others' }).click();
    expect(await timeline.getByRole('button', { name: /^item/ }).count()).toBe(57);
    await items.getByLabel('Number').fill('51');
    await timeline.getByRole('button', { name: /^item 51/ }).click();
    expect(await panel.getAttribute('data-path')).toBe('1.map.51');
    expect(new URL(page.url()).searchParams.get('step')).toBe('1.map.51');
    await page.getByRole('button', { name: 'Retry with …' }).waitFor();
  });

  it('draws many parallel steps so that they can be read, found, zoomed and folded', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    await api.client.submit({ _id: 'w1', type: 'job', flow: 'wide' });
    await api.ended('w1');
    const page = await openPage(api.url, '/jobs/w1', { width: 1440 });
    const graph = page.locator('.graph');
    const node = graph.locator('[data-path="0.parallel.7"]');
    const widthOf = async () => (await node.boundingBox())?.width ?? 0;
    await node.waitFor(soon);
    const width = await widthOf();
    expect(width).toBeGreaterThan(50);
    await graph.getByRole('button', { name: /^extract/ }).waitFor();
    await graph.getByPlaceholder('Find a step').fill('region-42');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Step region-42' }).waitFor(soon);
    await graph.getByRole('button', { name: 'Larger' }).click();
    await expect.poll(widthOf).toBeGreaterThan(width * 1.1);
    const before = await widthOf();
    await graph.locator('.graph-box').focus();
    await graph.locator('.graph-box').hover();
    await page.mouse.wheel(0, 200);
    await expect.poll(widthOf).toBeLessThan(before);
    await graph.getByRole('button', { name: 'Fold parallel' }).press('Enter');
    await node.waitFor({ state: 'detached' });
    await graph.getByRole('button', { name: 'Unfold parallel' }).press('Enter');
    await node.waitFor(soon);
    await graph.getByRole('button', { name: 'Fold parallel' }).press('Enter');
    await node.waitFor({ state: 'detached' });
    await graph.getByPlaceholder('Find a step').fill('region-7');
    await graph.locator('.found[data-path="0"]').waitFor(soon);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Step region-7' }).waitFor(soon);
    await node.waitFor(soon);
  });

  it('sends a signal, pauses, resumes, notes, skips, cancels and deletes, and disables its engine', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    await api.client.submit({ _id: 'a1', type: 'job', flow: 'approval' });
    await api.client.submit({ _id: 's1', type: 'job', flow: 'stuck' });
    // A job that is deleted while its page is open may be asked for once more.
    const page = await openPage(api.url, '/jobs/a1', { expected: /404.*\/_tws\/jobs\/l1/ });
    await page.getByText(/waits for the signal "decision"/).waitFor(soon);
    const press = async (button: string, fill: Record<string, string>, does: string) => {
      await page.getByRole('button', { name: button }).click();
      const question = page.getByRole('dialog');
      for (const [label, text] of Object.entries(fill)) await question.getByLabel(label).fill(text);
      await question.getByRole('button', { name: does, exact: true }).click();
      await question.waitFor({ state: 'detached', ...soon });
    };
    await press('Note …', { Note: 'asked Ada' }, 'Note it');
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByText('asked Ada').waitFor(soon);
    await press('Pause …', { Why: 'month end' }, 'Pause');
    await page.locator('.page-head').getByText('paused').waitFor(soon);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.page-head').getByText('waiting').waitFor(soon);
    expect(await page.getByRole('button', { name: 'Signal …' }).getAttribute('class')).toBe(
      'primary',
    );
    await press('Signal …', { Data: '{ "ok": true }' }, 'Send');
    await page.locator('.page-head').getByText('succeeded').waitFor(soon);
    expect((await api.ended('a1')).steps).toContainEqual(
      expect.objectContaining({ name: 'decision', result: { ok: true } }),
    );

    await page.goto(`${api.url}/_tws/admin/jobs/s1`);
    await page
      .getByText(/sap-connector/)
      .first()
      .waitFor(soon);
    await page.locator('.graph [data-path="1"]').click();
    await press('Skip a step …', { Why: 'no SAP here' }, 'Skip it');
    await page.locator('.page-head').getByText('succeeded').waitFor(soon);
    await page.locator('.graph .is-skipped[data-path="1"]').waitFor(soon);

    await api.client.submit({ _id: 'l1', type: 'job', flow: 'long' });
    await page.goto(`${api.url}/_tws/admin/jobs/l1`);
    await page.locator('.graph .is-active[data-path="1"]').waitFor(soon);
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page.getByRole('button', { name: 'Leave it as it is' }).click();
    await press('Cancel …', { Why: 'no more needed' }, 'Cancel the job');
    await page.locator('.page-head').getByText('cancelled').waitFor(soon);
    await page.getByText('no more needed').waitFor(soon);
    await press('Delete …', {}, 'Delete it');
    await page.waitForURL('**/admin/jobs');
    expect(await api.store.get('l1')).toBeUndefined();

    await page.getByRole('link', { name: 'Engines', exact: true }).click();
    await press('Disable …', {}, 'Disable it');
    const engine = page.locator('.engine');
    await engine.getByText('disabled').waitFor(soon);
    await engine.getByRole('button', { name: 'Enable' }).click();
    await engine.getByText('alive', { exact: true }).waitFor(soon);
    const place = page.locator('.place');
    expect(await place.textContent()).toContain(api.store.connection.database);
  });

  it('tells how the flow was changed since the job began, and the flow which jobs run another edition', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    await api.client.submit({ _id: 'j1', type: 'job', flow: 'long' });
    await api.until('j1', ({ steps }) => (steps as object[])?.length > 0);
    const page = await openPage(api.url, '/jobs/j1?tab=changes');
    await page.getByText('The job runs what is stored now.').waitFor(soon);
    const flow = await api.client.get('flow:DEFAULT:long');
    await api.put({ ...flow, _id: 'flow:DEFAULT:long', timeout: 99_000 });
    await page.goto(`${api.url}/_tws/admin/flows/long`);
    await page.getByText(/^Edition 1: 1 job/).click();
    await page.locator('.changes').getByText('99000').waitFor(soon);
    await page.getByRole('link', { name: 'j1', exact: true }).first().click();
    await page.getByRole('tab', { name: 'Changed definitions' }).click();
    await page.getByRole('heading', { name: 'long has changed since the job began' }).waitFor(soon);
    await page.locator('.changes').getByText('99000').waitFor();
  });

  it('says that there is none, and shows what cannot be drawn as JSON', async () => {
    const api = await openWorld();
    await api.put({
      _id: 'odd',
      type: 'job',
      flow: 'f',
      tasks: { parallel: 5 },
      steps: [null, { state: {} }, 'x'],
    });
    const page = await openPage(api.url, '/jobs/none', { expected: /404/ });
    await page.getByRole('heading', { name: 'No such job' }).waitFor();
    await page.goto(`${api.url}/_tws/admin/jobs/odd?tab=document`);
    await page.getByRole('heading', { name: 'odd' }).waitFor();
    await page.getByRole('region', { name: 'the document' }).getByText('"parallel": 5').waitFor();
  });

  it('tells what started it, what was caught, and which job has the same unique key', async () => {
    const api = await openWorld();
    const caught = { errors: ['Error'], do: 'nap', as: 'problem' };
    await api.put({
      ...{ _id: 'flow:DEFAULT:saved', type: 'flow', name: 'saved', owner: 'DEFAULT', timeout: 0 },
      ...{ tasks: ['echo', { task: 'gate', catch: [caught] }] },
      unique: { key: ['order'], period: 'P1D' },
    });
    const schedule = { id: 'schedule:DEFAULT:s', name: 's', slot: 1, time: '', cause: 'run' };
    const job = { type: 'job', flow: 'saved', owner: 'DEFAULT', params: { order: 7 } };
    await api.engine({ drainMs: 100 });
    await api.put({ ...job, _id: 'one', schedule: { ...schedule, by: 'ada' } });
    await api.ended('one');
    await api.put({ ...job, _id: 'two' });
    await api.ended('two');
    const seen: readonly PageToSee[] = [
      ['job-caught', '/jobs/one', (page) => page.getByText('results.problem').waitFor(soon)],
      ['job-not-unique', '/jobs/two', (page) => page.getByText('Key taken by').waitFor(soon)],
    ];
    await expectGoodPages(api.url, seen, [desksAndPhones[0], desksAndPhones[2]] as readonly Look[]);
    const page = await openPage(api.url, '/jobs/one');
    await page.getByText('Schedule s was run by ada, beside its slots.').waitFor(soon);
    await page.getByText('by order, for 1 d after the submit').waitFor();
    const region = page.getByRole('region', { name: 'Caught failures' });
    await region.getByText('The gate is closed', { exact: false }).waitFor();
    await page.goto(`${api.url}/_tws/admin/jobs/two`);
    await page.getByRole('link', { name: 'one', exact: true }).click();
    await page.getByRole('heading', { name: 'one' }).waitFor(soon);
  });
});
