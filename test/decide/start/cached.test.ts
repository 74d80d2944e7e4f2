import { describe, expect, it } from 'vitest';
import { BigResult } from '../../../src/model/big-result.js';
import type { Answer, CachedFound } from '../../../src/decide/world.js';
import { referenceText } from '../../../src/model/secret-reference.js';
import type { Task } from '../../../src/model/task.js';
import { t0, task } from '../../support/builders.js';
import { story, type Setting } from '../story.js';

const cache = { ttl: 'PT1H' };
const from = { job: 'first', path: '0', at: t0 - 5 };
const kept = (more: object = {}): CachedFound => ({
  ...{ kind: 'found', from, until: t0 + 10, result: { n: 7 } },
  ...more,
});

/** A job whose step `a` has a cache. */
function told(more: Partial<Task> = {}, setting: Partial<Setting> = {}) {
  return story({ steps: ['a', 'b'], tasks: [task('a', { cache, ...more })], ...setting });
}

/** The id that the step asks for. */
function idOf(of: ReturnType<typeof told>): string {
  of.go();
  const [step] = of.steps;
  return String((step as unknown as { cache?: { id: string } }).cache?.id);
}

describe('a step of a task with a cache', () => {
  // Shows X-52.
  it('Z22: ends with a result that lives, and says whose it is', () => {
    const id = idOf(told());
    const again = told({}, { world: { cached: { [id]: kept() } } });
    again.go();
    expect(again.steps[0]).toMatchObject({
      ...{ state: '$$complete', exit: 0, result: { n: 7 }, cached: from, attempt: 1 },
    });
    expect(again.steps[0]).not.toHaveProperty('claim');
    expect(again.running).toEqual(['b']);
  });

  it.each<[string, CachedFound]>([
    ['none is kept', { kind: 'absent' }],
    ['its life has ended', kept({ until: t0 })],
  ])('Z22: runs where %s, and says where its result is to be kept', (_title, found) => {
    const id = idOf(told());
    const again = told({}, { world: { cached: { [id]: found } } });
    again.go();
    expect(again.running).toEqual(['a']);
    expect(again.live).toMatchObject({ cache: { id, ttl: 3_600_000 } });
  });

  it('keeps and uses no result where its task has sensitive values', () => {
    expect(idOf(told({ sensitive: ['iban'] }))).toBe('undefined');
  });

  it('keeps and uses no result where the stored task has sensitive values by now', () => {
    const token = referenceText({
      ...{ kind: 'task', owner: 'DEFAULT', name: 'a', field: 'params.token' },
    });
    const secret = task('a', { cache, params: { token } });
    const begun = (now: Task, cached: Record<string, CachedFound> = {}) => {
      const it = story({ steps: ['z', 'a'], tasks: [secret], world: { cached } });
      it.go();
      it.with({ task: () => ({ kind: 'found', value: now }) });
      return it.did('z');
    };
    const before = begun(secret).live as { readonly cache?: { readonly id: string } };
    const id = String(before.cache?.id);
    const used = begun(secret, { [id]: kept() });
    expect(used.steps[1]).toMatchObject({ state: '$$complete', cached: from });
    const after = begun({ ...secret, sensitive: ['iban'] }, { [id]: kept() });
    expect(after.live).toMatchObject({ task: 'a', sensitive: ['iban'] });
    expect(after.live).not.toHaveProperty('cache');
  });

  it('asks for the result first', () => {
    const first = told();
    const id = idOf(first);
    const again = told({}, { world: { cached: { [id]: { kind: 'unknown' } } } });
    again.go();
    expect(told({}, { world: { cached: { [id]: { kind: 'unknown' } } } }).decide()).toMatchObject({
      kind: 'look_up',
      cached: [id],
    });
  });

  it('takes a large result as an attachment, and one without a result', () => {
    const id = idOf(told());
    const big = new BigResult({ n: 7 }, 70_000);
    const large = told({}, { world: { cached: { [id]: kept({ big }) } } });
    large.go();
    expect(large.steps[0]).toMatchObject({ result: { $attachment: 'result-0-1.json' } });
    expect(large.job).toMatchObject({ _attachments: { 'result-0-1.json': { data: big } } });
    const none = told({}, { world: { cached: { [id]: kept({ result: undefined }) } } });
    none.go();
    expect(none.steps[0]).not.toHaveProperty('result');
  });

  // Shows X-52.
  it.each<[string, Partial<Task>, Partial<Setting>]>([
    ['parameters', {}, { job: { params: { a: { x: 2 } } } }],
    ['owner', {}, { job: { owner: 'other' } }],
    ['content of the task', { params: { y: 1 } }, {}],
    [
      'key',
      { cache: { ...cache, key: 'params.x' } },
      { world: { answers: { '0.cache.key': { ok: true, value: 1 } } } },
    ],
  ])('Z21: uses no result of another %s', (_title, more, setting) => {
    const plain = { job: { params: { a: { x: 1 } } } };
    expect(idOf(told(more, { ...plain, ...setting }))).not.toBe(idOf(told({}, plain)));
  });

  it('Z21: uses the result of the same key, whatever else its parameters are', () => {
    const keyed = (x: number) =>
      told(
        { cache: { ...cache, key: 'params.x' } },
        {
          job: { params: { a: { x } } },
          world: { answers: { '0.cache.key': { ok: true, value: 'same' } } },
        },
      );
    expect(idOf(keyed(1))).toBe(idOf(keyed(2)));
  });

  it('asks for the value of its key, which sees parameters and results', () => {
    const of = told({ cache: { ...cache, key: 'params.x' } }, { job: { params: { a: { x: 1 } } } });
    expect(of.decide()).toMatchObject({
      kind: 'look_up',
      questions: [{ id: '0.cache.key', expression: 'params.x', context: { params: { x: 1 } } }],
    });
  });

  it('asks first for large results that its key may see', () => {
    const of = story({
      steps: ['b', 'a'],
      tasks: [task('a', { cache: { ...cache, key: 'results.b' } })],
      job: { _attachments: { 'result-0-1.json': { stub: true } } },
    });
    of.go();
    of.did('b', { $attachment: 'result-0-1.json', bytes: 70_000 });
    expect(of.decide()).toMatchObject({ kind: 'look_up' });
  });

  it.each<[string, Answer]>([
    ['cannot be evaluated', { ok: false, reason: 'no' }],
    ['has no value', { ok: true, value: undefined }],
    ['is null', { ok: true, value: null }],
  ])('Z23: fails when its key %s', (_title, answer) => {
    const world = { answers: { '0.cache.key': answer } };
    const of = told({ cache: { ...cache, key: 'x' } }, { world });
    of.go();
    expect(of.ending).toMatchObject({ exit: 3, failure: 'ExpressionError' });
  });

  it('fails as any step does when its parameters cannot be filled in', () => {
    const of = told({}, { job: { params: { a: { x: '{{job.params.none}}' } } } });
    of.go();
    expect(of.ending).toMatchObject({ exit: 3, failure: 'TemplateError' });
  });
});
