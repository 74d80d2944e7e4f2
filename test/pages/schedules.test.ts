import { describe, expect, it } from 'vitest';
import type { ScheduleProgress } from '../../src/model/schedule.js';
import type { TestApi } from '../http/server.js';
import { makeUser } from '../http/server.js';
import { auditOf, endBrowser, openPage, shoot } from './browser.js';
import { desksAndPhones, expectGoodPages, type PageToSee } from './each-page.js';
import { editorText, replaceText } from './orders.js';
import { openWorld } from './world.js';

endBrowser();
const soon = { timeout: 240_000 };

const hour = 3_600_000;
const nightly = {
  ...{ type: 'schedule', name: 'nightly-report', owner: 'DEFAULT', flow: 'greet' },
  ...{ cron: '30 3 * * *', time_zone: 'Europe/Berlin', catch_up: 'PT6H', overlap: 'one' },
  description: 'Greets everybody once a night.',
};

/** What an engine would have written: a slot that waits for the job of another, and a past. */
function standing(): Readonly<Record<string, unknown>> {
  const night = Math.floor(Date.now() / (24 * hour)) * 24 * hour + 2.5 * hour - 48 * hour;
  const [first, second] = [night - 48 * hour, night - 24 * hour];
  const job = (slot: number): string =>
    `schedule-run:DEFAULT:nightly-report:${new Date(slot).toISOString().replace('.000Z', 'Z')}`;
  const because = 'No engine acted on 3 slots in time.';
  return {
    ...{ ...nightly, _id: 'schedule:DEFAULT:nightly-report' },
    backfill: { from: first - 240 * hour, until: first, at_once: 2 },
    next_due: night + 72 * hour,
    progress: {
      ...{ edition: 1, timing: '', handled: night, slot: night + 72 * hour },
      ...{ waiting: night, running: [job(second)] },
      ...{ started: 12, skipped: 1, missed: 3 },
      backfill: { of: '', handled: first - 96 * hour, started: 6, running: [job(first)] },
      recent: [
        { slot: first - 72 * hour, until: first, at: first, kind: 'missed', count: 3, because },
        { slot: first, at: first + 1, kind: 'started', job: job(first) },
        { slot: second, at: second + 1, kind: 'started', job: job(second) },
      ],
    },
  };
}

/** A job of the schedule that has ended, as it would be stored. */
function slotJobOf(slot: number, more: object = {}) {
  const time = new Date(slot).toISOString().replace('.000Z', 'Z');
  const [id, name] = ['schedule:DEFAULT:nightly-report', 'nightly-report'];
  return {
    ...{ _id: `schedule-run:DEFAULT:nightly-report:${time}`, type: 'job', flow: 'greet' },
    ...{
      owner: 'DEFAULT',
      steps: [],
      start: slot,
      end: slot + 1_000,
      state: '$$complete',
      exit: 1,
    },
    failure: { name: 'StepFailed', message: 'The report is empty.' },
    schedule: { id, name, slot, time, ...more },
  };
}

async function withSchedules(api: TestApi): Promise<void> {
  const name = `a-schedule-with-a-long-name-${'0123456789'.repeat(5)}`;
  const problems = [{ path: 'cron', message: 'cron names a date that never comes.' }];
  const progress = {
    ...{ edition: 1, timing: '', handled: Date.now(), started: 0, skipped: 0, missed: 0 },
    recent: [],
  };
  const stands = standing();
  const { recent } = stands['progress'] as ScheduleProgress;
  await api.put(
    stands,
    slotJobOf(recent.at(-1)?.slot ?? 0),
    slotJobOf((recent[0]?.slot ?? 0) - hour, { cause: 'backfill', by: 'ada' }),
    {
      ...{ _id: `schedule:DEFAULT:${name}`, type: 'schedule', name, flow: 'gated', every: 'PT15M' },
      progress: { ...progress, recent: [{ slot: Date.now() - hour, at: 1, kind: 'skipped' }] },
      next_due: Date.now() + hour,
    },
    {
      ...{ _id: 'schedule:DEFAULT:twice', type: 'schedule', name: 'twice', flow: 'nothing' },
      ...{ at: ['2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z'], paused: true, progress },
    },
    {
      ...{ _id: 'schedule:DEFAULT:never', type: 'schedule', name: 'never', flow: 'greet' },
      ...{ cron: '0 0 30 2 *', progress, problems },
    },
  );
}

const nightlyPage = '/schedules/nightly-report';
/** Each page, and what is there when it is complete. */
const pages: readonly PageToSee[] = [
  ['schedules', '/schedules', (page) => page.getByText('4 schedules').waitFor(soon)],
  ['schedule', nightlyPage, (page) => page.getByText(/Nothing is wrong/).waitFor(soon)],
  [
    'schedule-invalid',
    '/schedules/never',
    (page) => page.locator('.cm-lintRange-error').first().waitFor(soon),
  ],
  [
    'schedule-backfill',
    '/schedules/twice',
    async (page) => {
      await page.getByRole('button', { name: 'Backfill …' }).click();
      await page.getByRole('dialog').waitFor(soon);
    },
  ],
  [
    'schedule-new',
    '/schedules?new',
    (page) => page.locator('.cm-lintRange-error').first().waitFor(soon),
  ],
];

describe('the pages of schedules', () => {
  it('have no serious problem of accessibility, light, dark or on a phone, and are no wider than it', async () => {
    const api = await openWorld();
    const empty = await openPage(api.url, '/schedules');
    await empty.getByRole('link', { name: 'Write the first schedule' }).waitFor(soon);
    await shoot(empty, 'schedules-empty');
    expect(await auditOf(empty)).toEqual([]);
    await withSchedules(api);
    await expectGoodPages(api.url, pages, desksAndPhones);
  }, 300_000);

  it('tell how one stands: slots to come, what waits, what came of the past and the backfill', async () => {
    const api = await openWorld();
    await withSchedules(api);
    const page = await openPage(api.url, '/schedules');
    const row = page.getByRole('row', { name: /nightly-report/ });
    await row.getByText('30 3 * * *').waitFor(soon);
    await row.getByText('Europe/Berlin').waitFor();
    await row.getByText(/^in /).waitFor();
    await row.getByText('failed', { exact: true }).waitFor();
    await page.getByRole('row', { name: /twice/ }).getByText('no such flow').waitFor();
    await page.getByLabel('Status').selectOption('paused');
    await page.getByText('1 of 4 schedules').waitFor();
    await page.getByLabel('Status').selectOption('');
    await row.getByRole('link', { name: 'nightly-report' }).click();
    const next = page.getByRole('region', { name: 'Next slots' });
    await next.getByRole('listitem').nth(4).waitFor(soon);
    expect(await next.getByText('03:30').count()).toBe(5);
    await page.getByText(/waits for .* to end/).waitFor();
    const past = page.getByRole('region', { name: 'Recent slots' });
    await past.getByText('No engine acted on 3 slots in time.').waitFor();
    expect(await past.getByRole('link').count()).toBe(2);
    await past.getByRole('listitem').first().getByText('failed').waitFor(soon);
    await page
      .getByRole('region', { name: 'Newest jobs' })
      .getByText(/^backfill by ada/)
      .waitFor(soon);
    const backfill = page.getByRole('region', { name: 'Backfill' });
    await backfill.getByText('6 jobs started', { exact: false }).waitFor();
    await backfill.getByRole('button', { name: 'Call off' }).click();
    await backfill.waitFor({ state: 'detached' });
    expect(await api.client.get('schedule:DEFAULT:nightly-report')).not.toHaveProperty('backfill');
    await page.goto(`${api.url}/_tws/admin/schedules/never`);
    await page
      .getByRole('alert', { name: 'Problems' })
      .getByText(/never comes/)
      .waitFor(soon);
  });
});

describe('schedules', () => {
  it('are written, paused, resumed, edited while engines write them, and removed', async () => {
    const api = await openWorld();
    await api.engine({ drainMs: 100 });
    const page = await openPage(api.url, '/schedules?new', { expected: /404|422/ });
    await page.locator('.cm-content').waitFor(soon);
    await replaceText(page, '"name": ""', '"name": "often"');
    await replaceText(page, '"flow": ""', '"flow": "greet"');
    const preview = page.getByText('Next slots of this text:').locator('..');
    await preview.getByText('06:00').first().waitFor(soon);
    await shoot(page, 'schedule-new-preview');
    await replaceText(page, '"cron": "0 6 * * *"', '"cron": "* * * * * *"');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'often' }).waitFor(soon);
    const id = 'schedule:DEFAULT:often';
    await page.locator('.page-head').getByText('active').waitFor(soon);
    await page
      .getByRole('region', { name: 'Recent slots' })
      .getByRole('link')
      .first()
      .waitFor(soon);
    // An engine writes it each second, which is nobody's edit.
    await replaceText(page, '"often",', '"often", "description": "Mine.",');
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByText(/^Stored/)
      .first()
      .waitFor(soon);
    await api.until(id, (doc) => doc['description'] === 'Mine.');
    expect(JSON.parse(await editorText(page))).not.toHaveProperty('progress');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.page-head').getByText('paused').waitFor(soon);
    await page.getByText('None while it is paused.').waitFor(soon);
    await expect
      .poll(async () => JSON.parse(await editorText(page)) as object)
      .toMatchObject({ paused: true });
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByText(/was run, beside its slots/).waitFor(soon);
    await shoot(page, 'schedule-job');
    await page.getByRole('link', { name: 'often', exact: true }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.page-head').getByText('active').waitFor(soon);
    await page.getByRole('link', { name: 'Jobs', exact: true }).last().click();
    await page.locator(`[data-job^="schedule-run:DEFAULT:often:"]`).first().waitFor(soon);
    await page.goBack();
    await page.getByRole('button', { name: 'Remove …' }).click();
    await page.getByRole('button', { name: 'Remove it' }).click();
    await page.getByText(/There are no schedules yet/).waitFor(soon);
    expect(await api.client.get(id)).toBeUndefined();
  });

  it('are filled up for a period that has passed', async () => {
    const api = await openWorld();
    await api.put({ ...nightly, _id: 'schedule:DEFAULT:nightly-report' });
    await api.engine({ drainMs: 100 });
    const page = await openPage(api.url, nightlyPage);
    await page.getByRole('button', { name: 'Backfill …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From').fill('2026-03-02T00:00');
    await dialog.getByLabel('Until').fill('2026-03-01T00:00');
    await dialog.getByRole('button', { name: 'Begin' }).click();
    await dialog.getByText('The period must begin before it ends.').waitFor();
    await dialog.getByLabel('Until').fill('2026-03-05T00:00');
    await dialog.getByLabel('Jobs at once').fill('2');
    await dialog.getByRole('button', { name: 'Begin' }).click();
    const past = page.getByRole('region', { name: 'Recent slots' });
    await past.getByText('backfilled').waitFor(soon);
    await past.getByText('(3 jobs)').waitFor(soon);
    const doc = await api.client.get('schedule:DEFAULT:nightly-report');
    expect((doc?.['progress'] as ScheduleProgress).recent).toMatchObject([{ count: 3 }]);
  });

  it('are only looked at by a viewer', async () => {
    const api = await openWorld({ settings: { sign_in: 'always' } });
    await withSchedules(api);
    const { name, password } = await makeUser('tws-viewer');
    const page = await openPage(api.url, nightlyPage, { expected: /401/ });
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Next slots' }).waitFor(soon);
    for (const button of ['Run now', 'Pause', 'Backfill …', 'Call off', 'Save', 'Remove …']) {
      const isOff = await page.getByRole('button', { name: button }).isDisabled();
      expect([button, isOff]).toEqual([button, true]);
    }
  });
});

it('hooks are listed with their addresses, and edited on a page of their own', async () => {
  const api = await openWorld();
  const hook = { type: 'hook', flow: 'greet', owner: 'DEFAULT' };
  const check = { hmac: { header: 'X-Hub-Signature-256', prefix: 'sha256=', secret: 'tws:v2:a' } };
  await api.put(
    { ...hook, _id: 'hook:DEFAULT:github', name: 'github', check, dedupe: 'X-GitHub-Delivery' },
    { ...hook, _id: 'h2', name: 'broken', check: 'none', enabled: 1 },
    {
      ...{ _id: 'hook-run:github:DEFAULT:1', type: 'job', flow: 'greet', owner: 'DEFAULT' },
      ...{ steps: [], state: '$$complete', exit: 1, start: Date.now(), end: Date.now() },
      failure: { name: 'StartInvalid', message: 'params is no object.' },
      started_by: {
        hook: 'hook:DEFAULT:github',
        delivery: 'd-17',
        problem: 'params is no object.',
      },
    },
    // Of the hook "github:DEFAULT" of owner 2.
    {
      ...{ _id: 'hook-run:github:DEFAULT:2:3', type: 'job', flow: 'greet', owner: 'DEFAULT' },
      started_by: { hook: 'h3', delivery: 'd-18' },
    },
  );
  const page = await openPage(api.url, '/hooks');
  const row = page.getByRole('row', { name: /broken/ });
  await row.getByText('invalid').waitFor(soon);
  await shoot(page, 'hooks');
  expect(await auditOf(page)).toEqual([]);
  await page.getByRole('link', { name: 'github' }).click();
  await page.getByText(`POST ${api.url}/_tws/hooks/github`).waitFor(soon);
  await page.getByText('"X-GitHub-Delivery"').waitFor(soon);
  const started = page.getByRole('region', { name: 'Newest jobs' });
  await started.getByText('delivery d-17').waitFor(soon);
  await started.getByText('params is no object.').waitFor();
  expect(await started.getByRole('listitem').count()).toBe(1);
  await shoot(page, 'hook');
  expect(await auditOf(page)).toEqual([]);
}, 300_000);

it('notify lists are listed with whom they tell, edited on a page of their own, and tested', async () => {
  const api = await openWorld();
  await api.put(
    {
      ...{ _id: 'notify:DEFAULT', type: 'notify', owner: 'DEFAULT' },
      notify: [
        { on: ['failed'], url: 'https://chat.example/secret-path' },
        { on: ['late', 'stuck'], task: 'mail' },
      ],
    },
    // Written by hand, with an id of its own.
    { _id: 'mine', type: 'notify', owner: 'ann', notify: [{ task: 'mail' }], problems: [{}] },
  );
  const rule = {
    flow: 'digest',
    owner: 'DEFAULT',
    entry: 0,
    by: 'batch',
    period: 3_600_000,
    size: 3,
  };
  await api.put(
    {
      ...{ _id: 'flow:DEFAULT:digest', type: 'flow', name: 'digest', owner: 'DEFAULT' },
      ...{ tasks: ['echo'], on: [{ event: 'sold', batch: { size: 3, period: 'PT1H' } }] },
    },
    { _id: 'event:sold:1', type: 'event', event: 'sold', key: '1' },
    {
      ...{ _id: 'gathering:digest:DEFAULT:x', type: 'gathering', ...rule, key: '"north"' },
      ...{ events: [{ id: 'event:sold:1', at: 1 }], next_due: Date.now() + 3_600_000 },
    },
  );
  const page = await openPage(api.url, '/flows/digest');
  const waiting = page.getByRole('region', { name: 'Events that wait' });
  await waiting.getByText('1 event of 3 sold with the key "north"').waitFor(soon);
  await waiting.getByText('batch: the job starts in').waitFor();
  await page.goto(`${api.url}/_tws/admin/notify`);
  const row = page.getByRole('row', { name: /ann/ });
  await row.getByText('task mail').waitFor(soon);
  expect(await page.getByText('secret-path').count()).toBe(0);
  await shoot(page, 'notify-lists');
  expect(await auditOf(page)).toEqual([]);
  await row.getByRole('link', { name: 'ann' }).click();
  await page.getByText('"mail"').waitFor(soon);
  await replaceText(page, '"mail"', '"tell"');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Stored. Engines follow it from now on.').waitFor(soon);
  expect(await api.client.get('mine')).toMatchObject({ owner: 'ann', notify: [{ task: 'tell' }] });
  await page.getByRole('button', { name: 'Send a test …' }).click();
  await page.getByLabel('Event').selectOption('late');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const link = page.getByRole('dialog').getByRole('link', { name: 'task mail' });
  await link.waitFor(soon);
  await shoot(page, 'notify-list');
  expect(await auditOf(page)).toEqual([]);
  const job = decodeURIComponent((await link.getAttribute('href'))?.split('/').at(-1) ?? '');
  expect(await api.client.get(job)).toMatchObject({ type: 'job', notifies: { event: 'late' } });
}, 300_000);

it('retention and its archive: what is kept, the last pass, and a job that is restored', async () => {
  const retain = { succeeded: { age: 'P30D' }, archive: { folder: 'archive' } } as const;
  const api = await openWorld({ retain });
  const old = { type: 'job', flow: 'greet', owner: 'DEFAULT', state: '$$complete', exit: 0 };
  const end = Date.now() - 60 * 24 * hour;
  const parent = { job: 'old-1', step: 's' };
  await api.put(
    { ...old, _id: 'old-1', steps: [], start: end - 1_000, end },
    { ...old, _id: 'old-1-part', parent, steps: [], start: end - 1_000, end },
    { ...old, _id: 'old-2', steps: [], start: end, end: end + 1_000 },
    {
      ...{ _id: 'flow:DEFAULT:hoard', type: 'flow', name: 'hoard', owner: 'DEFAULT' },
      ...{ tasks: ['echo'], retain: { succeeded: { count: -1 } } },
    },
    {
      ...{ _id: 'flow:DEFAULT:brief', type: 'flow', name: 'brief', owner: 'DEFAULT' },
      ...{ tasks: ['echo'], retain: { failed: { count: 100, age: 'P7D' } } },
    },
  );
  const pass = { root: api.folder, everyMs: hour, by: 'engine:box:1' };
  await api.client.retention({ ...pass, usual: retain });
  const seen: readonly PageToSee[] = [
    ['archive', '/archive', (page) => page.getByText('2 archived jobs').waitFor(soon)],
    ['archived-job', '/archive/old-1', (page) => page.getByText('old-1-part').waitFor(soon)],
  ];
  await expectGoodPages(api.url, seen, desksAndPhones);
  const page = await openPage(api.url, '/archive');
  const rules = page.getByRole('region', { name: 'What is kept' }).last();
  await rules.getByRole('row', { name: /brief.*the newest 100, for 7 d/ }).waitFor(soon);
  await page.getByRole('region', { name: 'Rules with mistakes' }).getByText('hoard').waitFor();
  await page.getByRole('region', { name: 'Last pass' }).getByText('removed 2 jobs').waitFor();
  await page.getByLabel('Job', { exact: true }).fill('old-1');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('1 archived job', { exact: true }).waitFor(soon);
  await page.getByRole('link', { name: 'old-1' }).click();
  await page.getByRole('button', { name: 'Restore …' }).click();
  await page.getByRole('dialog').getByText('Puts 2 documents back').waitFor(soon);
  await shoot(page, 'archived-job-restore');
  await page.getByRole('button', { name: 'Restore it' }).click();
  await page.getByText('The job is back.').waitFor(soon);
  expect(await api.client.get('old-1-part')).toMatchObject({
    restored: { from: 'folder archive' },
  });
}, 300_000);
