import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../src/model/document.js';
import { formsToAnswer, listInbox, sendFormAnswer } from '../../src/client/inbox.js';
import { createMemoryStore } from '../../src/memory/store.js';

/** A job with a step that asks a person, or has asked. */
function asking(_id: string, form: object, { owner = 'DEFAULT', state = '$$waiting' } = {}) {
  const step = { index: 0, path: '0', name: 'ask', task: 'wait', attempt: 1, run: 1 };
  const ended = state === '$$waiting' ? {} : { end: 2, exit: 0, result: {} };
  const wait = { form: { required: ['n'], properties: { n: { type: 'number' } } } };
  const tasks = { structure: 'sequence', sequence: [{ task: 'wait', wait }] };
  return {
    ...{ _id, type: 'job', flow: 'q', owner, state: 'wait-0', start: 1, run: 1, tasks },
    ...{ flow_definition: { type: 'flow', name: 'q', owner }, definitions: {}, params: {} },
    steps: [
      { ...step, phase: 'main', state, accepted: 1, start: 1, signal: 'ask', form, ...ended },
    ],
  };
}

async function stored(...docs: readonly (object & { readonly _id: string })[]) {
  const store = (await createMemoryStore()).open();
  await Promise.all(docs.map((doc) => store.write(doc)));
  return store;
}

describe('the inbox', () => {
  // Shows X-13.
  it('finds what waits for somebody among a thousand forms, what is due first', async () => {
    const many = Array.from({ length: 1_000 }, (_, i) =>
      asking(`j${i}`, { assignee: [`user-${i % 100}`], due: 10_000 - i }),
    );
    const store = await stored(...many, asking('g', { group: ['heads'], due: 1 }));
    const own = await listInbox(store, { user: 'user-7', groups: ['heads'], anyone: true });
    expect(own.forms.map(({ job }) => job)).toEqual([
      'g',
      ...[907, 807, 707, 607, 507, 407, 307, 207, 107, 7].map((i) => `j${i}`),
    ]);
    expect(own.more).toBe(false);
    const all = await listInbox(store, { most: 3 });
    expect(all).toMatchObject({
      forms: [{ job: 'g' }, { job: 'j999' }, { job: 'j998' }],
      more: true,
    });
    expect((await listInbox(store, { owners: ['acme'] })).forms).toEqual([]);
  });

  it('reads what people need from the view, and jobs that have no schema in their step themselves', async () => {
    const schema = { type: 'object', required: ['n'] };
    const full = { title: 'T', assignee: ['ann'], due: 1, timers: [], links: [], schema };
    const store = await stored(asking('new', full), asking('old', { due: 2 }));
    const read: string[] = [];
    const getMany: typeof store.getMany = (ids, ...more) => {
      read.push(...ids);
      return store.getMany(ids, ...more);
    };
    const { forms } = await listInbox({ ...store, getMany }, {});
    expect(read).toEqual(['old']);
    expect(forms).toEqual([
      {
        ...{ job: 'new', flow: 'q', owner: 'DEFAULT', path: '0', step: 'ask', attempt: 1 },
        ...{ signal: 'ask', since: 1, title: 'T', assignee: ['ann'], due: 1, form: schema },
      },
      {
        ...{ job: 'old', flow: 'q', owner: 'DEFAULT', path: '0', step: 'ask', attempt: 1 },
        ...{ signal: 'ask', since: 1, due: 2 },
        form: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
      },
    ]);
  });

  it('finds the forms of an owner behind many of others', async () => {
    const others = Array.from({ length: 20 }, (_, i) => asking(`j${i}`, { due: i }));
    const own = ['a', 'b'].map((id, i) => asking(id, { due: 100 + i }, { owner: 'acme' }));
    const store = await stored(...others, ...own);
    const most = 1;
    for (const whose of [{}, { anyone: true }]) {
      const found = await listInbox(store, { ...whose, owners: ['acme'], most });
      expect(found).toMatchObject({ forms: [{ job: 'a' }], more: true });
    }
    const all = await listInbox(store, { owners: ['acme'], most: 2 });
    expect(all).toMatchObject({ forms: [{ job: 'a' }, { job: 'b' }], more: false });
  });
});

describe('an answer to a form', () => {
  const form = { assignee: ['ann'], group: ['heads'] };
  const answer = (data: unknown, more: object = {}) => ({ job: 'j', data, by: 'ann', ...more });

  it.each<[string, object, string]>([
    ['that lacks a field', answer({}), 'form_unfit'],
    ['of somebody else', answer({ n: 1 }, { by: 'eve', roles: ['sales'] }), 'form_not_asked'],
    ['of nobody', answer({ n: 1 }, { by: undefined }), 'form_not_asked'],
    ['to a step that is not there', answer({ n: 1 }, { step: 'x' }), 'form_missing'],
    ['to another attempt', answer({ n: 1 }, { attempt: 2 }), 'form_missing'],
    ['to a job that is not there', answer({ n: 1 }, { job: 'x' }), 'document_missing'],
    ['that comes late', answer({ n: 1 }, { job: 'done' }), 'form_answered'],
    ['of a viewer to all', answer({ n: 1 }, { job: 'open', isViewer: true }), 'form_not_asked'],
    [
      'of a viewer, by the id of before',
      answer({}, { job: 'old', isViewer: true }),
      'form_not_asked',
    ],
  ])('%s is refused', async (_title, given, code) => {
    const done = { ...form, answered: { by: 'bob', at: 5 } };
    const state = '$$complete';
    const old = { ...asking('old', done, { state }), state, continued_to: 'new' };
    const after = { ...asking('new', {}), continued_from: 'old' };
    const store = await stored(
      ...[asking('j', form), asking('open', {}), asking('done', done, { state })],
      ...[old, after],
    );
    await expect(sendFormAnswer(store, given as never)).rejects.toMatchObject({ code });
  });

  it('finds the form in the job as which another goes on', async () => {
    const old = { ...asking('old', form), state: '$$complete', continued_to: 'new' };
    const after = { ...asking('new', form), continued_from: 'old' };
    const store = await stored(old, after);
    const forms = await formsToAnswer(store, (await store.get('old')) as StoredDocument);
    expect(forms).toMatchObject([{ job: 'new', path: '0' }]);
    expect((await sendFormAnswer(store, answer({ n: 1 }, { job: 'old' }))).form.job).toBe('new');
  });

  it.each<[object, object]>([
    [{ by: 'ann' }, { by: 'ann' }],
    [
      { by: 'eve', roles: ['heads'] },
      { by: 'eve', as: 'group:heads' },
    ],
    [
      { by: 'root', isAdmin: true },
      { by: 'root', as: 'admin' },
    ],
  ])('of %j is stored as a signal to that wait', async (who, kept) => {
    const store = await stored(asking('j', form));
    const { signal } = await sendFormAnswer(store, {
      ...answer({ n: 1 }, { by: undefined }),
      ...who,
    });
    const doc = await store.get(signal);
    expect(doc).toMatchObject({ name: 'ask', data: { n: 1 }, step: '0', attempt: 1, ...kept });
  });
});
