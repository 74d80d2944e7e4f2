import { describe, expect, it } from 'vitest';
import { mayLock } from '../../../src/decide/compete/locks.js';
import { uniqueKey, uniqueRequest } from '../../../src/decide/compete/unique.js';
import type { LockAnswer } from '../../../src/decide/world.js';
import { doesCount, readUnique, ruleOf, type Unique } from '../../../src/model/unique.js';
import type { Status } from '../../../src/model/status.js';
import { story, type Setting } from '../story.js';

const params = { 'a-0': { x: 1 } };
const id = 'lock:["unique","DEFAULT",{"flow":"f"},{"params":{"a-0":{"x":1}}}]';
const unknown: LockAnswer = { kind: 'unknown' };

const told = (unique: Unique, setting: Partial<Setting> = {}) =>
  story({ steps: ['a'], job: { flow: 'f', unique, params }, ...setting });

const textOf = (unique: Unique, job: Record<string, unknown>): string => {
  const key = uniqueKey({ _id: 'j', ...job }, unique);
  return key.kind === 'known' ? key.text : key.kind;
};

describe('the key of a job', () => {
  it.each([
    ['all params as written', {}, { flow: 'f', params }, '{"flow":"f"},{"params":{"a-0":{"x":1}}}'],
    ['no params', {}, { flow: 'f' }, '{"flow":"f"},{"params":{}}'],
    ['a name over flows', { name: 'n' }, { flow: 'f' }, '{"name":"n"},{"params":{}}'],
    [
      'paths of parameters',
      { key: ['a.x', 'b.0', 'c.d', 'e'] },
      { flow: 'f', params: { a: { x: 1 }, b: [2], c: 3 } },
      '{"flow":"f"},{"at":{"a.x":1,"b.0":2,"c.d":null,"e":null}}',
    ],
    ['no parameters at all', { key: ['a'] }, { flow: 'f' }, '{"flow":"f"},{"at":{"a":null}}'],
    ['tasks that are none', {}, { tasks: 5 }, '{"tasks":5},{"params":{}}'],
  ])('is made of %s', (_title, unique, job, text) => {
    expect(textOf(unique, job)).toBe(`["unique","DEFAULT",${text}]`);
  });

  it('knows inline tasks in the one form in which engines know them', () => {
    expect(textOf({}, { tasks: { sequence: ['a'] } })).toBe(textOf({}, { tasks: ['a'] }));
  });

  it('belongs to an owner', () => {
    const of = (owner: string) => textOf({}, { flow: 'f', owner });
    expect(of('me')).not.toBe(of('you'));
    expect(of('DEFAULT')).toBe(textOf({}, { flow: 'f' }));
  });

  it('may be an expression, which sees the job as it was submitted', () => {
    const job = { _id: 'j', _rev: '1-x', flow: 'f', tasks: [], locked: {} };
    const asked = uniqueKey(job, { key: 'job.flow' });
    expect(asked).toEqual({
      kind: 'asked',
      question: {
        id: 'unique.key',
        expression: 'job.flow',
        context: {
          job: { _id: 'j', flow: 'f', owner: 'DEFAULT' },
          ...{ step: {}, params: {}, results: {}, parent_results: {} },
        },
      },
    });
    const given = (answer: object) =>
      uniqueKey(
        { ...job, params: { a: 1 } },
        { key: 'x' },
        new Map([['unique.key', answer as never]]),
      );
    expect(given({ ok: true, value: [1] })).toMatchObject({ kind: 'known' });
    expect(given({ ok: true, value: undefined })).toMatchObject({ kind: 'wrong' });
    expect(given({ ok: false, reason: 'no' })).toEqual({ kind: 'wrong', reason: 'no' });
  });
});

describe('which other job counts', () => {
  const at = 1_000;
  it.each<[string, Unique, Status, number, boolean]>([
    ['one that has not ended', {}, 'waiting', 9_999, true],
    ['none that has ended', {}, 'failed', 0, false],
    ['one that ended within the period', { period: 'PT2S' }, 'succeeded', 1_999, true],
    ['none after the period, though it runs', { period: 2_000 }, 'running', 2_000, false],
    ['one in these states', { states: ['succeeded'] }, 'succeeded', 9_999, true],
    ['none in another state', { states: ['succeeded'] }, 'running', 0, false],
    [
      'none in another state within the period',
      { states: ['failed'], period: 2_000 },
      'running',
      0,
      false,
    ],
  ])('is %s', (_title, unique, status, after, counts) => {
    expect(doesCount(ruleOf(unique), { status, at }, at + after)).toBe(counts);
  });

  it.each([
    [{ key: [] }],
    [{ key: '' }],
    [{ key: 5 }],
    [{ period: 0 }],
    [{ period: 'P1Y' }],
    [{ states: [] }],
    [{ states: ['done'] }],
    [{ on_conflict: 'ignore' }],
    [{ keys: ['type'] }],
    [true],
  ])('is never said by %j', (unique) => {
    expect(readUnique(unique)).toBeUndefined();
  });
});

describe('a job with a key', () => {
  it('takes its lock before it begins, and the expression of it is asked for first', () => {
    const plain = told(
      { period: 1_000, on_conflict: 'replace' },
      { world: { locks: { [id]: unknown } } },
    );
    expect(plain.decide()).toMatchObject({
      kind: 'acquire',
      locks: [{ kind: 'unique', id, key: 'flow "f"', unique: { periodMs: 1_000, replace: true } }],
    });
    expect(plain.with({ locks: {} }).go()).toMatchObject({
      kind: 'claim',
      job: { locked: { unique: id } },
    });
    expect(mayLock(plain.liveJob)).toBe(true);
    const asked = told({ key: 'params' });
    expect(asked.decide()).toMatchObject({ kind: 'look_up', questions: [{ id: 'unique.key' }] });
    expect(asked.answering({ 'unique.key': 1 }).go().kind).toBe('claim');
    const none = told({ key: 'params.b' }).answering({ 'unique.key': undefined });
    none.go();
    expect(none.ending).toEqual({ state: '$$complete', exit: 3, failure: 'UniqueInvalid' });
  });

  it('may have it from its flow', () => {
    const of = story({ steps: ['a'], flow: { unique: { name: 'n' } }, job: { params } });
    expect(of.go()).toMatchObject({ kind: 'claim' });
    expect(Object.keys(of.liveJob.locked ?? {})).toEqual(['unique']);
  });

  it('is refused while another one counts, and ends when that one takes its place', () => {
    const refused = told({}, { world: { locks: { [id]: { kind: 'taken', by: 'other' } } } });
    refused.go();
    expect(refused.ending).toEqual({ state: '$$complete', exit: 5, failure: 'NotUnique' });
    expect(refused.job).toMatchObject({
      failure: {
        message: expect.stringContaining(
          'Job other has the same "unique" key among the jobs of flow "f"',
        ) as string,
      },
    });
    const replaced = told({}, { world: { locks: { [id]: { kind: 'replaced', by: 'other' } } } });
    replaced.go();
    expect(replaced.ending).toEqual({ state: '$$cancelled', exit: 130, failure: 'Cancelled' });
  });

  it('says what its key belongs to', () => {
    const keyOf = (unique: Unique, job: object) =>
      uniqueRequest('lock:x', { _id: 'j', ...job }, unique).key;
    expect(keyOf({ name: 'n' }, { flow: 'f' })).toBe('"n"');
    expect(keyOf({}, { tasks: ['a'] })).toBe('these tasks');
  });

  it('U19: waits for the one that it replaces', () => {
    const waits = told(
      { on_conflict: 'replace' },
      { world: { locks: { [id]: { kind: 'replacing', by: 'other' } } } },
    );
    expect(waits.go()).toMatchObject({
      kind: 'wait',
      because: expect.stringContaining('Job other has the same "unique" key') as string,
      until: waits.now + 1_000,
    });
    expect(waits.with({ locks: {} }).go().kind).toBe('claim');
  });

  it('takes it again with a retry, under the same id', () => {
    const again = told({});
    again.go();
    again.broke('a');
    again.write({ retry: true });
    again.with({ locks: { [id]: { kind: 'replaced', by: 'other' } } });
    again.go();
    again.go();
    expect(again.ending).toEqual({ state: '$$cancelled', exit: 130, failure: 'Cancelled' });
  });
});
