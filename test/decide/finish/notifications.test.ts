import { describe, expect, it } from 'vitest';
import { announce } from '../../../src/decide/finish/notifications.js';
import { mostTelling } from '../../../src/decide/finish/wanted.js';
import type { Child } from '../../../src/decide/world.js';
import type { Intent } from '../../../src/decide/intent.js';
import type { FinalJob } from '../../../src/model/job.js';
import { flow, newJob, t0, world, type WorldOptions } from '../../support/builders.js';
import { begun, story, type Story } from '../story.js';

const url = 'https://example.com/hook';
const absent = (...ids: readonly string[]): Record<string, Child> =>
  Object.fromEntries(ids.map((id) => [id, { kind: 'absent' }]));

/** The end of a flow of one task, with these entries. */
function ended(notify: unknown, end: (told: Story) => Intent, around: WorldOptions = {}): Intent {
  const told = begun(['a'], { flow: { notify }, world: around });
  return end(told);
}

type Writing = Extract<Intent, { kind: 'write' }>;

describe('the end of a job', () => {
  it('is written as ever when nobody is told', () => {
    const intent = ended(undefined, (told) => told.done());
    expect(intent).not.toHaveProperty('makes');
    expect((intent as Writing).job).not.toHaveProperty('notifications');
  });

  it('asks first whether the notifications are there', () => {
    const told = begun(['a'], { flow: { notify: [{ url }, { url }] } });
    told.end({ kind: 'done' });
    expect(told.decide()).toMatchObject({
      kind: 'look_up',
      children: ['j:notify:1:0', 'j:notify:1:1'],
    });
  });

  it('N1, N3: makes those that are not there, and names all of them', () => {
    const children = { ...absent('j:notify:1:0'), 'j:notify:1:1': { kind: 'live' } as const };
    const intent = ended([{ url }, { url }], (told) => told.done(), { children }) as Writing;
    expect(intent.makes).toMatchObject([
      { _id: 'j:notify:1:0', notifies: { job: 'j', status: 'succeeded', exit: 0, depth: 1 } },
    ]);
    expect(intent.job).toMatchObject({
      notifications: [
        { id: 'j:notify:1:0', run: 1, at: t0 },
        { id: 'j:notify:1:1', run: 1, at: t0 },
      ],
    });
  });

  it.each<[string, readonly string[] | undefined, boolean, boolean]>([
    ['succeeded', ['succeeded'], true, false],
    ['failed', ['failed'], false, true],
    ['cancelled', ['cancelled'], false, false],
    ['ended', ['ended'], true, true],
    ['nothing said', undefined, true, true],
    ['succeeded or failed', ['succeeded', 'failed'], true, true],
  ])('is told on %s', (_title, on, well, badly) => {
    const notify = [{ url, ...(on === undefined ? {} : { on }) }];
    const children = absent('j:notify:1:0');
    const made = (end: (told: Story) => Intent): number =>
      (ended(notify, end, { children }) as Writing).makes?.length ?? 0;
    expect(made((told) => told.done())).toBe(well ? 1 : 0);
    expect(made((told) => told.fail())).toBe(badly ? 1 : 0);
  });

  it('is told by the flow and by the job itself, those of the flow first', () => {
    const told = begun(['a'], {
      flow: { notify: [{ task: 'tell', params: { a: 1 } }] },
      job: { notify: [{ flow: 'escalate', version: '2' }] },
      world: { children: absent('j:notify:1:0', 'j:notify:1:1') },
    });
    expect((told.done() as Writing).makes).toMatchObject([
      { _id: 'j:notify:1:0', tasks: { sequence: [{ task: 'tell', params: { a: 1 } }] } },
      { _id: 'j:notify:1:1', flow: 'escalate', flow_version: '2' },
    ]);
  });

  it('has the body of its format, for a webhook and for a task', () => {
    const told = begun(['a'], {
      flow: {
        notify: [
          { url, format: 'slack' },
          { task: 'mail', format: 'mail', params: { to: 'x' } },
          { task: 'page', format: 'teams' },
        ],
      },
      world: { children: absent(...[0, 1, 2].map((n) => `j:notify:1:${n}`)) },
    });
    const body = '{{job.notifies.message}}';
    const subject = '{{job.notifies.message.subject}}';
    const text = '{{job.notifies.message.text}}';
    expect((told.fail() as Writing).makes).toMatchObject([
      {
        tasks: { sequence: [{ params: { url, body } }] },
        notifies: { format: 'slack', message: { text: 'Job j of flow f failed' } },
      },
      {
        tasks: { sequence: [{ params: { to: 'x', subject, text } }] },
        notifies: { message: { subject: 'Job j of flow f failed' } },
      },
      { tasks: { sequence: [{ params: { body } }] }, notifies: { message: { type: 'message' } } },
    ]);
  });

  it('says of which entry of which flow it is made, where that is the entry of a flow', () => {
    const told = begun(['a'], {
      flow: { notify: [{ flow: 'escalate' }, { task: 'tell' }, { url }] },
      job: { notify: [{ url }] },
      world: { children: absent(...[0, 1, 2, 3].map((n) => `j:notify:1:${n}`)) },
    });
    const entries = (told.done() as Writing).makes?.map(
      ({ notifies }) => (notifies as { readonly entry?: unknown }).entry,
    );
    const of = { flow: 'f', owner: 'DEFAULT' };
    expect(entries).toEqual([undefined, { ...of, at: 1 }, { ...of, at: 2 }, undefined]);
  });

  it('is told by notify lists as well, and they add up', () => {
    const ids = ['j:notify:1:0', 'j:notify:1:notify:me:0', 'j:notify:1:tws.json:2'];
    const told = begun(['a'], {
      flow: { notify: [{ task: 'tell' }] },
      world: {
        children: absent(...ids),
        notifyLists: [
          { of: 'tws.json', at: 2, owner: 'DEFAULT', entry: { url } },
          { of: 'notify:me', at: 0, owner: 'me', entry: { on: ['failed'], task: 'page' } },
        ],
      },
    });
    const { makes = [] } = told.fail() as Writing;
    expect(makes.map(({ _id }) => _id).toSorted()).toEqual(ids);
    // The job is of DEFAULT; what a list of another owner names is looked up for that owner.
    expect(makes.map(({ owner }) => owner)).toEqual(['DEFAULT', 'DEFAULT', 'me']);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a child job', { parent: { job: 'p' } }],
    ['a notification', { notifies: { job: 'x', run: 1, status: 'failed', depth: 1 } }],
    ['a flow with "notify_lists": false', {}],
  ])('of %s is left out by notify lists', (_title, more) => {
    const entry = { of: 'tws.json', at: 0, owner: 'DEFAULT', entry: { url } };
    const around = world({
      flows: [flow(['a'], { notify_lists: false })],
      notifyLists: [entry],
      children: absent('j:notify:0:tws.json:0'),
    });
    const job = newJob(more);
    const final = { ...job, state: '$$complete', exit: 3, end: t0 } as FinalJob;
    expect(announce(job, final, around)).toMatchObject({ makes: [] });
  });

  it('is made for the first entries of very many', () => {
    const notify = Array.from({ length: 105 }, () => ({ url }));
    const ids = notify.map((_, n) => `j:notify:1:${n}`);
    const told = begun(['a'], { flow: { notify }, world: { children: absent(...ids) } });
    expect((told.done() as Writing).makes).toHaveLength(100);
  });

  it('of a job that never began is told by its flow as it is now', () => {
    const notify = [{ url }, 'no entry'];
    const given = flow(['nowhere'], { notify });
    const around = world({ flows: [given], children: absent('j:notify:0:0') });
    const job = newJob();
    const final = { ...job, state: '$$complete', exit: 3, end: t0 } as FinalJob;
    expect(announce(job, final, around)).toMatchObject({
      kind: 'announced',
      makes: [{ notifies: { run: 0, of_rev: '1-new', status: 'failed' }, state: '$$ready' }],
    });
    const later = world({ flow: () => ({ kind: 'unknown' }) });
    expect(announce(job, { ...final, owner: 'me' }, later)).toMatchObject({
      kind: 'look_up',
      flows: [{ name: 'f', owner: 'me' }],
    });
    const versions = world({
      flows: [{ ...given, version: '2' }],
      children: absent('j:notify:0:0'),
    });
    expect(announce(job, final, versions)).toMatchObject({ kind: 'announced', makes: [{}] });
    expect(announce(job, final, world())).toMatchObject({ makes: [] });
    expect(announce(job, { ...final, tasks: {} }, later)).toMatchObject({ makes: [] });
  });

  it.each<[string, Record<string, unknown>]>([
    ['a slice', { slice: {} }],
    ['a job that goes on as a new one', { continued_to: 'j~2' }],
    [
      'a notification of notifications',
      { notifies: { job: 'x', run: 1, status: 'failed', depth: mostTelling } },
    ],
    ['a child of one', { parent: { told: mostTelling } }],
  ])('of %s is not told', (_title, more) => {
    const job = newJob({ notify: [{ url }], ...more });
    const final = { ...job, state: '$$complete', exit: 0, end: t0 } as FinalJob;
    expect(announce(job, final, world())).toEqual({ kind: 'announced', job: final, makes: [] });
  });

  it.each<[string, Child, number]>([
    ['free', { kind: 'absent' }, 1],
    ['taken, too', { kind: 'foreign' }, 0],
  ])('has a marked id where the usual one is taken and that is %s', (_title, second, count) => {
    const marked = `j:notify-${t0}:1:0`;
    const usual = { 'j:notify:1:0': { kind: 'foreign' } } as const;
    const told = begun(['a'], { flow: { notify: [{ url }] }, world: { children: usual } });
    expect(told.done()).toMatchObject({ kind: 'look_up', children: [marked] });
    told.with({ children: { ...usual, [marked]: second } });
    const intent = told.go() as Writing;
    expect(intent.makes ?? []).toHaveLength(count);
    expect(intent.job).toMatchObject({ notifications: [{ id: marked }] });
  });

  it('that never began has an id marked by its revision where the usual one is taken', () => {
    const job = newJob({ notify: [{ url }] });
    const final = { ...job, state: '$$complete', exit: 3, end: t0 } as FinalJob;
    const children = { 'j:notify:0:0': { kind: 'foreign' } } as const;
    expect(announce(job, final, world({ children }))).toMatchObject({
      children: ['j:notify-1-new:0:0'],
    });
  });
});

describe('a job whose notifications cannot be read', () => {
  it('runs, and tells where they are wrong in its flow and in itself', () => {
    const told = begun(['a'], { flow: { notify: [{}] }, job: { notify: 5 } });
    expect(told.open).toHaveLength(1);
    expect(told.job).toMatchObject({
      problems: [
        {
          path: 'flow_definition.notify[0]',
          message: 'flow_definition.notify[0] must name a "url", a "task" or a "flow".',
        },
        { path: 'notify', message: 'notify must be a list of notifications; it is 5.' },
      ],
    });
  });
});

describe('the document of a notification', () => {
  const made = (entry: Record<string, unknown>, job: Record<string, unknown> = {}) => {
    const children = absent('j:notify:1:0');
    const told = story({
      steps: ['a'],
      flow: { notify: [entry], queue: 'own' },
      job: { priority: 3, ...job },
      world: { children, queues: ['own', 'mine'], linkOf: (id) => `https://t/${id}` },
    });
    told.go();
    return (told.done() as Writing).makes?.[0] as Record<string, unknown>;
  };

  it('of a webhook has begun, with all that it needs', () => {
    const notification = made({
      ...{ url, secret: { $enc: 'tws:v1:x' }, headers: { a: 'b' }, body: { c: 1 } },
      ...{ timeout: 5, retry: 2 },
    });
    expect(notification).toMatchObject({
      ...{ type: 'job', state: '$$ready', owner: 'DEFAULT', priority: 3, queue: 'own', run: 1 },
      definitions: { webhook: { retry: 2, timeout: 5 } },
      flow_definition: { timeout: 0 },
      params: {
        'webhook-0': { url, secret: { $enc: 'tws:v1:x' }, headers: { a: 'b' }, body: { c: 1 } },
      },
      notifies: { link: 'https://t/j' },
    });
  });

  it('of a flow is a job of that flow, in the queue that the job itself names', () => {
    const params = { a: { b: 1 } };
    const notification = made({ flow: 'escalate', params }, { queue: 'mine' });
    expect(notification).toMatchObject({ flow: 'escalate', params, queue: 'mine' });
    expect(made({ flow: 'escalate' })).not.toHaveProperty('queue');
    expect(made({ task: 'tell' })).toMatchObject({
      queue: 'own',
      tasks: { sequence: [{ task: 'tell' }] },
    });
  });

  it('has what its entry includes, unless that is long', () => {
    const job = newJob({ notify: [{ url, include: ['params', 'result'] }], params: { a: 1 } });
    const long = { text: 'x'.repeat(70_000) };
    const final = { ...job, state: '$$complete', exit: 0, end: t0, result: long } as FinalJob;
    const around = world({ children: absent('j:notify:0:0') });
    const announced = announce(job, final, around);
    expect(announced).toMatchObject({
      makes: [{ notifies: { params: { a: 1 }, result: { $omitted: 70_011 } } }],
    });
    const { result: _result, ...without } = final;
    const less = announce(job, without, around);
    expect(less).not.toHaveProperty('makes.0.notifies.result');
  });
});

describe('a notification', () => {
  const notifies = { job: 's', run: 1, start: 5, status: 'failed', depth: 1 };
  const subject = (doc: Record<string, unknown>): WorldOptions => ({
    subjects: { s: { kind: 'there', doc: { _id: 's', ...doc } } },
  });
  const told = (around: WorldOptions, more: Record<string, unknown> = {}): Intent =>
    story({ steps: ['a'], job: { notifies, ...more }, world: around }).decide();

  it('looks at its subject first', () => {
    expect(told({})).toMatchObject({ kind: 'look_up', subjects: ['s'] });
  });

  it.each<[string, WorldOptions, Record<string, unknown>]>([
    ['its run goes on', subject({ state: 'a-0', start: 5, run: 1 }), {}],
    [
      'it may yet begin',
      subject({ state: undefined }),
      { notifies: { ...notifies, of_rev: '1-new' } },
    ],
  ])('waits while %s', (_title, around, more) => {
    expect(told(around, more)).toEqual({
      rule: 'notification',
      kind: 'wait',
      because: 'It waits until job s has ended.',
    });
  });

  it.each<[string, WorldOptions]>([
    ['ended in another way', subject({ state: '$$complete', start: 5, run: 1 })],
    ['goes on in another run', subject({ state: 'a-0', start: 5, run: 2 })],
    ['is another job of its id', subject({ state: 'a-0', start: 6, run: 1 })],
  ])('N2: ends without telling anything when its subject %s', (_title, around) => {
    const skipped = 'Job s did not end as this notification was to tell.';
    const final = { state: '$$complete', exit: 0, result: { skipped } };
    expect(told(around)).toMatchObject({ kind: 'write', job: { ...final, steps: [] } });
    const live = story({ steps: ['a', 'b'], world: around });
    live.go();
    live.edit({ notifies });
    expect(live.decide()).toMatchObject({ kind: 'write', job: final });
  });

  it('begins when its subject names it, and knows how that ended', () => {
    const notifications = [{ id: 'j', run: 1, at: 9 }];
    const end = { state: '$$cancelled', exit: 130, end: 9, start: 5, run: 1, flow: 'x' };
    const intent = told(subject({ ...end, notifications }));
    expect(intent).toMatchObject({
      kind: 'claim',
      job: { notifies: { status: 'cancelled', exit: 130, end: 9, flow: 'x', depth: 1, since: t0 } },
    });
  });

  it.each<[string, WorldOptions]>([
    ['was removed', { subjects: { s: { kind: 'absent' } } }],
    [
      'goes on again',
      subject({ state: 'a-0', run: 2, start: 5, notifications: [{ id: 'j', run: 1, at: 9 }] }),
    ],
  ])('begins with what it knows when its subject %s', (_title, around) => {
    expect(told(around)).toMatchObject({
      kind: 'claim',
      job: { notifies: { ...notifies, since: t0 } },
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['it knows already', { notifies: { ...notifies, since: 1 } }],
    ['its mark cannot be read', { notifies: 'something of the user' }],
  ])('is a job as any other when %s', (_title, more) => {
    expect(told({}, more)).toMatchObject({ kind: 'claim' });
  });

  it('can be cancelled while it waits', () => {
    expect(told({}, { cancel: true })).toMatchObject({
      kind: 'write',
      job: { state: '$$cancelled' },
    });
  });

  it('N4: hands its depth down to its child jobs', () => {
    const more = { notifies: { ...notifies, since: 1 } };
    const tale = story({ steps: [{ flow: 'inner' }], job: more });
    tale.go();
    expect(tale.children).toMatchObject([{ parent: { told: 1 } }]);
  });
});
