import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/decide/intent.js';
import type { Child } from '../../../src/decide/world.js';
import type { StepForm } from '../../../src/model/step.js';
import { isOfPeople } from '../../../src/reading/people.js';
import { signalAnswer } from '../../../src/reading/signal-answer.js';
import { concealedIn } from '../../../src/structures/concealed.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import { t0 } from '../../support/builders.js';
import { begun, type Story } from '../story.js';

const amount = { required: ['amount'], properties: { amount: { type: 'number' } } };
const secret = { type: 'string', writeOnly: true };
const atStart = new Date(t0).toISOString();
/** A wait with a form and a step after it. */
const asking = (wait: Record<string, unknown>, name = 'ask'): WrittenNode[] => [
  { name, wait: { form: amount, ...wait } },
  'a',
];
const approving = (approve: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  begun([{ name: 'sign', approve, ...more }, 'a']);

/** What the first step asks. */
function formIn({ steps: [step] }: Story): StepForm {
  return step !== undefined && isOfPeople(step) ? step.form : {};
}

/** The last record of what was refused. */
function refusal(told: Story): unknown {
  const { requests } = told.job as { readonly requests?: readonly { refused?: unknown }[] };
  return requests?.at(-1)?.refused;
}

describe('a wait for people', () => {
  it('PF1: has what is asked in its step, with templates filled in', () => {
    const told = begun(
      asking({
        title: 'Invoice {{job.params.no}}',
        text: '{{job.params.no}}',
        assignee: '{{job.params.who}}',
        group: ['finance', 'heads'],
        due: 3_600_000,
        remind: [600_000, { before_due: 900_000 }, { before_due: 7_200_000 }, 600_000],
        escalate: { after: 7_200_000, assignee: 'eve' },
        timeout: 18_000_000,
      }),
      { job: { params: { no: 17, who: ['ann', 'bob', 'ann'] } } },
    );
    expect(told.steps[0]).toMatchObject({
      state: '$$waiting',
      signal: 'ask',
      until: t0 + 18_000_000,
      form: {
        title: 'Invoice 17',
        text: '17',
        assignee: ['ann', 'bob'],
        group: ['finance', 'heads'],
        due: t0 + 3_600_000,
        timers: [
          { event: 'reminder', at: t0 },
          { event: 'reminder', at: t0 + 600_000 },
          { event: 'reminder', at: t0 + 2_700_000 },
          { event: 'due', at: t0 + 3_600_000 },
          { event: 'escalated', at: t0 + 7_200_000 },
        ],
        escalate: { assignee: ['eve'] },
      },
    });
  });

  it.each([
    ['""', ''],
    ['[]', []],
    ['["ann",""]', '{{job.params.list}}'],
    ['7', '{{job.params.number}}'],
  ])('PF1: fails with a definition problem when its assignee is %s', (value, assignee) => {
    const told = begun(asking({ assignee }), {
      job: { params: { list: ['ann', ''], number: 7 } },
    });
    const message = `Nobody can answer: wait.assignee must give a name or a list of names, and it gives ${value}.`;
    expect(told.ending).toMatchObject({ exit: 3, failure: 'AssigneeInvalid' });
    expect(told.steps[0]).toMatchObject({ failure: { message } });
  });

  it('has a signal of its own: its name, its step key, or that with the item of a map', () => {
    const form = {};
    expect(begun(asking({})).steps[0]).toMatchObject({ signal: 'ask' });
    expect(begun([{ approve: {} }]).steps[0]).toMatchObject({ signal: 'approve-0' });
    expect(begun(asking({ signal: 'x{{job.run}}' })).steps[0]).toMatchObject({ signal: 'x1' });
    const map = { over: [1, 2], do: { wait: { form } } };
    const told = begun([{ map }]);
    expect(told.steps.map(({ signal }) => signal)).toContain('wait-0-1');
    expect(told.signal('wait-0-1', {}).open).toEqual(['0.map.0']);
  });

  it.each([
    ['each step of a map, when it is short', 1, 2],
    ['no step of a map, when it is long', 500, 0],
  ])('keeps the schema of its form in %s', (_, length, kept) => {
    const form = { description: 'x'.repeat(length) };
    const { steps } = begun([{ map: { over: [1, 2], do: { wait: { form } } } }]);
    const schemas = steps.filter(isOfPeople).flatMap(({ form: { schema } }) => schema ?? []);
    expect(schemas).toEqual(Array.from({ length: kept }, () => ({ type: 'object', ...form })));
  });

  it('sleeps until its next timer, its end or an answer', () => {
    const told = begun(asking({ due: 2_000, remind: 1_000, timeout: 3_000 }));
    expect(told.decide()).toMatchObject({
      kind: 'wait',
      because: `Step ask waits for a person, due ${new Date(t0 + 2_000).toISOString()}.`,
      until: t0 + 1_000,
    });
    told.at(1_000).go();
    expect(told.job).toMatchObject({ next_due: t0 + 2_000 });
    told.at(2_000).go();
    expect(told.decide()).toMatchObject({ until: t0 + 3_000 });
    told.at(3_000).go();
    expect(told.ending).toMatchObject({ exit: 1, failure: 'WaitTimeout' });
  });

  it('PF2: takes each timer up once, also those that are late, the oldest first', () => {
    const told = begun(asking({ due: 2_000, remind: [1_000, 3_000] }));
    told.at(2_500).go();
    const timers = [
      { event: 'reminder', at: t0 + 1_000, told: t0 + 2_500 },
      { event: 'due', at: t0 + 2_000, told: t0 + 2_500 },
      { event: 'reminder', at: t0 + 3_000 },
    ];
    expect(formIn(told).timers).toEqual(timers);
    expect(told.at(2_900).go()).toMatchObject({ kind: 'wait', until: t0 + 3_000 });
    expect(formIn(told).timers).toEqual(timers);
  });

  it.each([
    [{ assignee: 'eve' }, { assignee: ['ann', 'eve'], group: ['finance'] }],
    [{ group: ['heads', 'finance'] }, { assignee: ['ann'], group: ['finance', 'heads'] }],
  ])('PF2: has others answer as well once it is escalated to %j', (others, form) => {
    const escalate = { after: 1_000, ...others };
    const told = begun(asking({ assignee: 'ann', group: 'finance', escalate })).at(1_000);
    told.go();
    expect(formIn(told)).toMatchObject(form);
    expect(formIn(told).escalate).toEqual({
      [Object.keys(others)[0] ?? '']: Object.values(others).flat(),
    });
  });

  it('PF2: may ask everybody first, and somebody in the end', () => {
    const told = begun(asking({ escalate: { after: 1_000, group: 'heads' } })).at(1_000);
    told.go();
    expect(formIn(told)).toMatchObject({ group: ['heads'] });
    expect(formIn(told)).not.toHaveProperty('assignee');
  });

  it('PF5: ends with the answer, and with who gave it and when', () => {
    const told = begun(asking({ assignee: 'ann' })).at(5);
    told.signal('ask', { amount: 3, by: 'x', at: 1, as: 'y' }, { by: 'ann' });
    const at = t0 + 5;
    expect(told.steps[0]).toMatchObject({
      state: '$$complete',
      signal_id: 'sent-1',
      form: { assignee: ['ann'], answered: { by: 'ann', at } },
    });
    expect(told.steps[0]?.['result']).toEqual({ amount: 3, by: 'ann', at });
    expect(formIn(told)).not.toHaveProperty('schema');
    expect(told.running).toEqual(['a']);
  });

  it("PF5: ends with nobody's name where nobody knows who gave the answer", () => {
    const told = begun(asking({})).signal('ask', { amount: 3, by: 'ann', as: 'admin' });
    expect(told.steps[0]?.['result']).toEqual({ amount: 3, at: t0 });
  });

  it('takes an answer that came before it, and one without data where nothing must be filled in', () => {
    const early = begun(['a', { name: 'ask', wait: { form: amount } }]);
    early.signal('ask', { amount: 1 }).did('a');
    expect(early.steps[1]).toMatchObject({ state: '$$complete', result: { amount: 1 } });
    expect((early.job as { problems?: unknown }).problems).toBeUndefined();
    const bare = begun([{ wait: { form: {} } }, 'a']).signal('wait-0');
    expect(bare.steps[0]).toMatchObject({ state: '$$complete', result: { at: t0 } });
  });

  it('N5: tells of an answer that does not suit the form, and goes on', () => {
    const told = begun(asking({})).signal('ask', { amount: 'much' }, { by: 'bob' });
    const because = 'The data do not suit the "form" of step "ask": data.amount must be number.';
    expect(refusal(told)).toBe(because);
    expect(told.signal('ask', [1]).steps[0]).toMatchObject({ state: '$$waiting' });
    expect(refusal(told)).toMatch(/data must be object/);
    expect(told.signal('ask', { amount: 1 }).running).toEqual(['a']);
    const broken = begun(asking({ form: { properties: 7 } })).signal('ask', {});
    expect(broken.ending).toMatchObject({ exit: 3, failure: 'SchemaInvalid' });
  });

  it.each([
    [{}, 'says nobody'],
    [{ by: 'eve' }, 'is from eve'],
    [{ by: 'eve', as: 'group:sales' }, 'is from eve'],
  ])('PF3: refuses an answer of %j, also one that it failed', (more, who) => {
    const told = begun(asking({ assignee: ['ann', 'bob'], group: 'finance' }));
    const because = `Step "ask" waits for ann, bob or the group "finance", and the answer ${who}.`;
    expect(refusal(told.signal('ask', { amount: 1 }, more))).toBe(because);
    const failure = { name: 'No', message: 'no' };
    expect(refusal(told.signal('ask', undefined, { ...more, failure }))).toBe(because);
    expect(told.open).toEqual(['0']);
  });

  it.each([
    [{ by: 'eve', as: 'group:finance' }, { by: 'eve' }],
    [
      { by: 'root', as: 'admin' },
      { by: 'root', as: 'admin' },
    ],
  ])('PF3: takes an answer of %j', (more, answered) => {
    const told = begun(asking({ assignee: 'ann', group: 'finance' }));
    told.signal('ask', { amount: 1 }, more);
    expect(told.steps[0]).toMatchObject({ form: { answered: { ...answered, at: t0 } } });
    expect(told.steps[0]?.['result']).toEqual({ amount: 1, ...answered, at: t0 });
  });

  it.each([
    [
      { by: 'ann', via: 'inbox' },
      { by: 'ann', via: 'inbox' },
    ],
    [{ by: 'ann', via: 'link' }, { by: 'ann' }],
  ])(
    'PF5: puts on record how an answer of %j came, but no link that was not proven',
    (more, by) => {
      const told = begun(asking({ assignee: 'ann' }));
      told.signal('ask', { amount: 1 }, more);
      expect(formIn(told).answered).toEqual({ ...by, at: t0 });
      expect(told.steps[0]?.['result']).toEqual({ amount: 1, by: 'ann', at: t0 });
    },
  );

  it('PF1: says which fields of the answer are not shown', () => {
    const pin = { type: 'string', writeOnly: true };
    const properties = {
      pin,
      word: { format: 'password' },
      list: { items: [pin] },
      n: {},
      t: true,
    };
    const told = begun([{ wait: { form: { properties } } }, { approve: {} }]);
    expect(formIn(told).concealed).toEqual(['pin', 'word', 'list']);
    const plain = begun([{ approve: {} }]);
    expect(formIn(plain)).not.toHaveProperty('concealed');
    const bare = { minProperties: 1 };
    const schema = { type: 'object', ...bare };
    expect(formIn(begun([{ wait: { form: bare } }]))).toEqual({ schema });
  });

  it.each([
    ['what it refers to', { properties: { pin: { $ref: '#/$defs/secret' } } }, ['pin']],
    ['a schema that it refers to', { $ref: '#/$defs/all~1of~0it' }, ['pin']],
    ['itself again', { properties: { tree: { $ref: '#' }, t: { $ref: '#/properties/tree' } } }, []],
    ['one of several schemas', { allOf: [{ properties: { pin: secret } }, true] }, ['pin']],
    ['a schema for some answers', { if: {}, then: { properties: { pin: secret } } }, ['pin']],
    [
      'one that hangs on a field',
      { dependentSchemas: { a: { properties: { pin: secret } } } },
      ['pin'],
    ],
    [
      'two of them',
      { properties: { pin: secret }, anyOf: [{ properties: { pin: secret } }] },
      ['pin'],
    ],
    ['what is elsewhere', { properties: { pin: { $ref: 'https://a.example/pin' } } }, []],
    [
      'what is not there',
      { properties: { pin: { $ref: '#/$defs/none/of/it' }, n: { $ref: 1 } } },
      [],
    ],
  ])('PF1: a field is not shown because of %s', (_, written, names) => {
    const $defs = { secret, 'all/of~it': { properties: { pin: secret } } };
    const concealed = concealedIn({ ...written, $defs });
    expect(concealed ?? []).toEqual(names);
  });

  it('PF4: refuses the other answers that have come, in the same write', () => {
    const told = begun(asking({ assignee: ['ann', 'bob'] }));
    const signals = [
      { id: 's1', name: 'ask', at: t0 + 1, by: 'ann', data: { amount: 1 } },
      { id: 's2', name: 'ask', at: t0 + 2, by: 'bob', data: { amount: 2 }, revision: 2 },
      { id: 's3', name: 'ask', at: t0 + 2, step: '7' },
      { id: 's4', name: 'other', at: t0 + 3 },
    ];
    told.job = { ...told.job, signals } as typeof told.job;
    told.at(10).go();
    const at = new Date(t0 + 1).toISOString();
    expect(told.job).toMatchObject({
      signals: [{ id: 's1' }, { id: 's3' }, { id: 's4' }],
      requests: [
        {
          ...{ id: 's2', revision: 2, by: 'bob', action: 'signal', name: 'ask', at: t0 + 10 },
          refused: `Step "ask" was answered already by ann at ${at}.`,
        },
      ],
    });
    expect(told.revisions).toBe(2);
  });

  it('PF4: leaves an answer that another open wait of the same name may take', () => {
    const wait = { signal: 'ok', form: {} };
    const told = begun([{ parallel: [{ wait }, { wait }] }]);
    const signals = ['s1', 's2'].map((id) => ({ id, name: 'ok', at: t0 }));
    told.job = { ...told.job, signals } as typeof told.job;
    told.go();
    expect(told.ending).toMatchObject({ state: '$$complete', exit: 0 });
    expect(told.steps.map(({ signal_id }) => signal_id)).toEqual(['s1', 's2']);
    expect(told.job).not.toHaveProperty('requests');
  });

  it.each<[what: string, first: WrittenNode, then: readonly WrittenNode[], isKept: boolean]>([
    [
      'the next step waits for it',
      { wait: { signal: 'ok', form: {} } },
      [{ wait: { signal: 'ok' } }],
      true,
    ],
    [
      'a later step has the same name',
      { name: 'ok', approve: {} },
      ['a', { name: 'ok', approve: {} }],
      true,
    ],
    [
      'a map waits for it later',
      { name: 'ok', approve: {} },
      [{ map: { over: [1], do: { wait: { signal: 'ok' } } } }],
      true,
    ],
    ['nothing else does', { name: 'ok', approve: {} }, ['a', { approve: {} }], false],
  ])('PF4: keeps an answer that was sent ahead where %s', (_what, first, then, isKept) => {
    const told = begun([first, ...then]);
    told.signal('ok', { approved: true });
    const ahead = (): unknown => told.signal('ok', { approved: true });
    if (!isKept) return expect(ahead).toThrow('was answered already');
    ahead();
    expect(told.job).not.toHaveProperty('requests');
    const both = begun([first, ...then]);
    const signals = ['s1', 's2'].map((id) => ({
      id,
      name: 'ok',
      at: t0,
      data: { approved: true },
    }));
    both.job = { ...both.job, signals } as typeof both.job;
    both.go();
    expect(both.job).not.toHaveProperty('requests');
  });

  it('PF4: lets an answer sent ahead end the second of two waits in a row', () => {
    const told = begun([
      { wait: { signal: 'ok', form: {} } },
      'a',
      { wait: { signal: 'ok', form: {} } },
    ]);
    told.signal('ok', { n: 1 }, { by: 'ann' });
    told.signal('ok', { n: 2 }, { by: 'bob' });
    told.did('a');
    expect(told.ending).toMatchObject({ state: '$$complete', exit: 0 });
    expect(told.steps.map(({ signal_id }) => signal_id)).toEqual(['sent-1', undefined, 'sent-2']);
    const late = begun([
      { wait: { signal: 'ok', form: {} } },
      { wait: { signal: 'ok', form: {} } },
      'a',
    ]);
    late.signal('ok', { n: 1 }).signal('ok', { n: 2 });
    expect(() => late.signal('ok', { n: 3 })).toThrow('was answered already');
    expect(() => late.signal('ok', { n: 3 }, { step: '0' })).toThrow('was answered already');
  });

  it('PF4: refuses others where nobody knows who answered', () => {
    const told = begun(asking({}));
    const signals = ['s1', 's2'].map((id) => ({ id, name: 'ask', at: t0, data: { amount: 1 } }));
    told.job = { ...told.job, signals } as typeof told.job;
    told.go();
    expect(refusal(told)).toBe(`Step "ask" was answered already at ${atStart}.`);
    expect(told.job).toMatchObject({ signals: [{ id: 's1' }] });
  });

  it('PF4: refuses an answer that comes later, with who was faster', () => {
    const told = begun(asking({})).signal('ask', { amount: 1 }, { by: 'ann' });
    const late = `Step "ask" was answered already by ann at ${atStart}.`;
    expect(() => told.signal('ask', { amount: 2 }, { by: 'bob' })).toThrow(late);
    expect(() => told.signal('ask', {}, { step: '0' })).toThrow(late);
    expect(() => told.signal('ask', {}, { step: '0', attempt: 1 })).toThrow(late);
    told.signal('ask', {}, { step: '9' });
    told.did('a');
    expect(() => told.signal('ask', { amount: 2 })).toThrow(late);
    const nobody = begun(asking({})).signal('ask', { amount: 1 });
    expect(() => nobody.signal('ask')).toThrow(`Step "ask" was answered already at ${atStart}.`);
  });

  it('takes an answer to one of its attempts for that attempt only', () => {
    const told = begun([{ name: 'ask', wait: { form: {}, timeout: 10 }, retry: 1 }, 'a']);
    told.at(10).go();
    const gone = 'Step "ask" does not wait for an answer any more.';
    expect(() => told.signal('ask', {}, { step: '0', attempt: 1 })).toThrow(gone);
    expect(told.open).toEqual(['0']);
    told.signal('ask', {}, { step: '0', attempt: 2 });
    expect(told.running).toEqual(['a']);
  });
});

describe('an approval', () => {
  // Shows X-13.
  it('is a wait with a form of its own', () => {
    const told = approving({ title: 'Pay 17', assignee: 'ann', due: 1_000, timeout: 2_000 });
    expect(told.steps[0]).toMatchObject({
      task: 'approve',
      state: '$$waiting',
      until: t0 + 2_000,
      form: { title: 'Pay 17', assignee: ['ann'], due: t0 + 1_000 },
    });
    expect(told.decide()).toMatchObject({
      because: `Step sign waits for ann (Pay 17), due ${new Date(t0 + 1_000).toISOString()}.`,
    });
    told.signal('sign', { approved: true, comment: 'fine' }, { by: 'ann' });
    const result = { approved: true, comment: 'fine', by: 'ann', at: t0 };
    expect(told.steps[0]).toMatchObject({ state: '$$complete', result });
  });

  it('may name a field that must be there a second time', () => {
    const form = { required: ['approved', 'comment'] };
    const told = approving({ comment: true, form });
    told.signal('sign', { approved: true, comment: 'fine' });
    expect(told.steps[0]).toMatchObject({ state: '$$complete' });
  });

  it.each([
    [{}, {}, 'data.approved is missing'],
    [{}, { approved: 'yes' }, 'data.approved must be boolean'],
    [{}, { approved: true, more: 1 }, 'data.more is not known'],
    [{ comment: true }, { approved: true }, 'data.comment is missing'],
    [{ comment: true }, { approved: true, comment: '' }, 'data.comment'],
    [{ comment: false }, { approved: true, comment: 'x' }, 'data.comment is not known'],
    [{ form: amount }, { approved: true }, 'data.amount is missing'],
    [
      { form: { properties: { approved: { type: 'string' } } } },
      { approved: 'false' },
      'data.approved must be boolean',
    ],
  ])('%j is not answered by %j', (approve, data, problem) => {
    const told = approving(approve).signal('sign', data);
    expect(told.open).toEqual(['0']);
    expect(refusal(told)).toContain(problem);
  });

  it('that is refused fails its step with a name of its own, and no retry asks again', () => {
    const told = approving({}, { retry: 3 });
    told.signal('sign', { approved: false, comment: 'too much' }, { by: 'ann' });
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'NotApproved' });
    expect(told.steps[0]).toMatchObject({
      state: '$$error',
      exit: 2,
      form: { answered: { by: 'ann' } },
      failure: {
        message: 'Not approved by ann: too much.',
        answer: { approved: false, comment: 'too much', by: 'ann', at: t0 },
      },
    });
    expect(signalAnswer(told.job, 'sent-1')).toEqual({ kind: 'answered', answer: null });
    const plain = approving({}).signal('sign', { approved: false });
    expect(plain.steps[0]).toMatchObject({ failure: { message: 'Not approved.' } });
  });

  it('that is refused can be caught, or goes on', () => {
    const caught = approving({}, { catch: [{ errors: ['NotApproved'], do: 'b' }] });
    expect(caught.signal('sign', { approved: false }).running).toEqual(['b']);
    const on = approving({ on_refuse: 'continue' }).signal('sign', { approved: false });
    expect(on.running).toEqual(['a']);
    expect(on.steps[0]).toMatchObject({ result: { approved: false } });
  });
});

describe('who is to be told of a wait for people', () => {
  const free: Readonly<Record<string, Child>> = new Proxy({}, { get: () => ({ kind: 'absent' }) });
  const entry = (on: readonly string[]) => ({
    on,
    task: 'mail',
    params: { to: '{{job.notifies.assignee}}' },
  });
  const made = (intent: Intent): readonly unknown[] =>
    ((intent as { makes?: readonly { notifies?: unknown }[] }).makes ?? []).map(
      ({ notifies }) => notifies,
    );

  it('PF2: is told of reminders, of what is due and of an escalation, once each', () => {
    const notify = [entry(['waiting', 'reminder', 'due', 'escalated'])];
    const wait = {
      ...{ title: 'Pay', assignee: 'ann', due: 2_000, remind: [0, 1_000] },
      escalate: { after: 3_000, assignee: 'eve' },
    };
    const told = begun(asking(wait), {
      flow: { notify, timeout: 0 },
      world: { children: free },
    });
    expect(made(told.at(1).go())).toMatchObject([{ event: 'waiting' }, { event: 'reminder' }]);
    expect(made(told.at(1_000).go())).toEqual([]);
    expect(made(told.at(1_001).go())).toMatchObject([
      {
        ...{ event: 'reminder', step: 'ask', signal: 'ask', title: 'Pay', assignee: ['ann'] },
        due: t0 + 2_000,
      },
    ]);
    // Engines were away for a while.
    expect(made(told.at(9_000).go())).toMatchObject([
      { event: 'due', assignee: ['ann', 'eve'] },
      { event: 'escalated', assignee: ['ann', 'eve'] },
    ]);
    expect(told.at(99_000).go().kind).toBe('wait');
    const { notifications } = told.job as { readonly notifications?: readonly object[] };
    expect(new Set(notifications?.map((one) => (one as { id: string }).id)).size).toBe(5);
  });

  it('is told of each item of a map', () => {
    const map = { over: ['ann', 'bob'], do: { approve: { assignee: '{{item}}' } } };
    const told = begun([{ map }], {
      flow: { notify: [entry(['waiting'])], timeout: 0 },
      world: { children: free },
    });
    const all = made(told.at(1).go());
    expect(all).toMatchObject([{ assignee: ['ann'] }, { assignee: ['bob'] }]);
  });
});
