import { describe, expect, it } from 'vitest';
import { formKeyOf, begunFormOf, type OneOfForm } from '../../src/client/begun-forms.js';
import { offerName } from '../../src/model/work.js';

const first: OneOfForm = { id: 'sample-1', now: 1_000, place: { at: 1_000, id: 'place-1' } };
const second: OneOfForm = { id: 'sample-2', now: 9_000, place: { at: 9_000, id: 'place-2' } };
const wanted: OneOfForm = { id: 'job', now: 5_000, place: { at: 4_000, id: 'place' } };
const job = { _id: 'job', type: 'job', ojs: { args: [1] } };
const signalOf = ({ place }: OneOfForm) => offerName({ queue: 'q', priority: 7, ...place });

/** What a form makes of a job where the rules make this of samples. */
function madeBy(rules: (one: OneOfForm) => object, other: (one: OneOfForm) => object = rules) {
  return begunFormOf({ one: first, job: rules(first) }, { one: second, job: other(second) })?.(
    job,
    wanted,
  );
}

describe('the form of a job', () => {
  it.each<[what: string, rules: (one: OneOfForm) => object]>([
    ['nothing but the id', ({ id }) => ({ _id: id })],
    ['times', ({ id, now }) => ({ _id: id, start: now, next_due: now + 30_000 })],
    [
      'a place in line',
      (one) => ({ _id: one.id, steps: [{ signal: signalOf(one), since: one.now }] }),
    ],
    ['the id in another text', ({ id }) => ({ _id: id, log: `about ${id}.` })],
    [
      'what is the same',
      ({ id }) => ({ _id: id, tasks: [{ task: 'a', params: {} }], n: 1, none: null }),
    ],
  ])('makes of it what the rules make: %s', (_what, rules) => {
    expect(madeBy((one) => ({ ...rules(one), ojs: {} }))).toEqual({
      ...rules(wanted),
      ojs: job.ojs,
    });
  });

  it('shares what is the same in all', () => {
    const tasks = [{ task: 'a' }];
    const copy = structuredClone(tasks);
    const made = madeBy(
      ({ id }) => ({ _id: id, tasks }),
      ({ id }) => ({ _id: id, tasks: copy }),
    );
    expect(made?.['tasks']).toBe(tasks);
  });

  it.each<[what: string, one: object, other: object]>([
    ['other keys', { _id: 'sample-1', a: 1 }, { _id: 'sample-2', b: 1 }],
    ['more steps', { _id: 'sample-1', steps: [] }, { _id: 'sample-2', steps: [{}] }],
    ['another kind of value', { _id: 'sample-1', a: 1 }, { _id: 'sample-2', a: '1' }],
    ['a random text', { _id: 'sample-1', a: 'x' }, { _id: 'sample-2', a: 'y' }],
    ['the id twice', { a: 'sample-1 sample-1' }, { a: 'sample-2 sample-2' }],
    ['a number that is no time', { _id: 'sample-1', n: 1 }, { _id: 'sample-2', n: 2 }],
    ['something deep in it', { a: [{ b: 'x' }] }, { a: [{ b: 'y' }] }],
    ['an object and a list', { a: {} }, { a: [] }],
  ])('is not there where samples differ in %s', (_what, one, other) => {
    expect(
      madeBy(
        () => one,
        () => other,
      ),
    ).toBeUndefined();
  });
});

describe('the key of the form of a job', () => {
  const order = {
    ...job,
    owner: 'ada',
    priority: 3,
    tasks: [{ task: 'ojs', name: 'mail.send', params: { worker: { queue: 'q' } } }],
  };

  it('leaves out its id and what it carries', () => {
    expect(formKeyOf(order)).toBeDefined();
    expect(formKeyOf({ ...order, _id: 'other', ojs: { args: [2] } })).toBe(formKeyOf(order));
  });

  it.each([
    ['owner', { ...order, owner: 'bob' }],
    ['priority', { ...order, priority: 4 }],
    ['type', { ...order, tasks: [{ task: 'ojs', name: 'mail.read' }] }],
    ['queue', { ...order, tasks: [{ task: 'ojs', name: 'mail.send' }] }],
  ])('is another one for another %s', (_what, other) => {
    expect(formKeyOf(other)).toBeDefined();
    expect(formKeyOf(other)).not.toBe(formKeyOf(order));
  });

  it.each([
    ['a time', { ...order, exec_after: 5 }],
    ['an end', { ...order, expires: 5 }],
    ['a key of its own', { ...order, unique: {} }],
    ['a flow', { ...job, flow: 'a' }],
    ['parameters', { ...order, tasks: [{ task: 'a', params: { x: 1 } }] }],
    ['parameters beside', { ...order, tasks: [{ task: 'a', params: { x: 1, worker: {} } }] }],
    ['odd parameters', { ...order, tasks: [{ task: 'a', params: 'x' }] }],
    ['a structure', { ...order, tasks: [{ parallel: ['a'] }] }],
    ['a bare name', { ...order, tasks: ['a'] }],
    ['one entry that is none', { ...order, tasks: [{ task: 'a' }, null] }],
    ['no order', { ...order, ojs: undefined }],
    ['very much', { ...order, tags: ['x'.repeat(3_000)] }],
  ])('is not there for a job with %s', (_what, other) => {
    expect(formKeyOf(other)).toBeUndefined();
  });
});
