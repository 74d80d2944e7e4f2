import { describe, expect, it } from 'vitest';
import {
  decideDelivery,
  type Delivery,
  type DeliveryVerdict,
} from '../../../src/decide/hooks/decide-delivery.js';
import type { Answer } from '../../../src/decide/world.js';
import type { Hook } from '../../../src/model/hook.js';

const hook: Hook = {
  ...{ _id: 'hook:me:push', type: 'hook', name: 'push', owner: 'me', flow: 'deploy' },
  check: 'none',
};
const delivery: Delivery = {
  ...{ name: 'd1', body: { ref: 'main' }, headers: { a: 'b' }, query: { q: '1' } },
};
const yes = (value: unknown): Answer => ({ ok: true, value });
const no: Answer = { ok: false, reason: 'it is broken' };

function decided(
  more: Partial<Hook> = {},
  answers: Partial<Record<'match' | 'params', Answer>> = {},
  of: Partial<Delivery> = {},
): DeliveryVerdict {
  const world = { answer: (id: 'match' | 'params') => answers[id], hash: (text: string) => text };
  return decideDelivery({ ...hook, ...more }, { ...delivery, ...of }, world);
}

const jobIn = (verdict: DeliveryVerdict) =>
  verdict.kind === 'start' || verdict.kind === 'refuse' ? verdict.job : undefined;

describe('a delivery to a hook', () => {
  it('T25: starts a job whose id follows from the hook and what names the delivery', () => {
    expect(decided({ priority: 7, tags: ['x'] })).toEqual({
      kind: 'start',
      job: {
        _id: 'hook-run:push:me:["push","me","d1"]',
        ...{ type: 'job', flow: 'deploy', owner: 'me', priority: 7, tags: ['x'] },
        started_by: { hook: 'hook:me:push', delivery: 'd1' },
      },
    });
    const ids = [decided(), decided({}, {}, { body: 2 }), decided({}, {}, { name: 'd2' })].map(
      (one) => jobIn(one)?._id,
    );
    expect(new Set(ids).size).toBe(2);
    const { owner: _owner, ...ownerless } = hook;
    const world = { answer: () => undefined, hash: (text: string) => text };
    expect(jobIn(decideDelivery(ownerless, delivery, world))?.owner).toBe('DEFAULT');
  });

  it('asks for match and params over the delivery', () => {
    const { body, headers, query } = delivery;
    const context = { body, headers, query };
    const both = { match: 'm', params: 'p' };
    expect(decided(both)).toEqual({
      kind: 'evaluate',
      question: { id: 'match', expression: 'm', context },
    });
    expect(decided(both, { match: yes(true) })).toEqual({
      kind: 'evaluate',
      question: { id: 'params', expression: 'p', context },
    });
    const params = { match: yes(true), params: yes({ n: 1 }) };
    expect(jobIn(decided(both, params))).toMatchObject({ params: { n: 1 } });
  });

  it.each([false, undefined, null])('starts nothing when match gives %s', (value) => {
    expect(decided({ match: 'm' }, { match: yes(value) })).toEqual({ kind: 'ignore' });
  });

  it.each<[string, Partial<Hook>, Partial<Record<'match' | 'params', Answer>>]>([
    ['match cannot be evaluated: it is broken', { match: 'm' }, { match: no }],
    ['match gives neither true nor false.', { match: 'm' }, { match: yes(1) }],
    ['params cannot be evaluated: it is broken', { params: 'p' }, { params: no }],
    ['params gives no object of parameters.', { params: 'p' }, { params: yes([1]) }],
    [
      'params has more than 50000 values; keep large data elsewhere and hand over where it is, or split the work into child flows.',
      { params: 'p' },
      { params: yes({ list: Array.from({ length: 50_000 }, (_, i) => i) }) },
    ],
  ])('T26: %s is told by a job of another id, which ends with it', (reason, more, answers) => {
    const verdict = decided(more, answers);
    expect(verdict).toMatchObject({ kind: 'refuse', job: { flow: 'deploy', owner: 'me' } });
    const job = jobIn(verdict);
    expect(verdict).toMatchObject({ reason });
    expect(job?.started_by.problem).toBe(reason);
    expect(job?._id).not.toBe(jobIn(decided())?._id);
    expect(job).not.toHaveProperty('params');
  });

  it('T27: reads no text of a sender as a template', () => {
    const params = { a: 'plain', b: ['{{x}}', { c: 'is [[y]]' }], n: 1 };
    expect(jobIn(decided({ params: 'p' }, { params: yes(params) }))).toMatchObject({
      params: {
        ...{ a: 'plain', n: 1 },
        b: ['{{job.started_by.texts.0}}', { c: '{{job.started_by.texts.1}}' }],
      },
      started_by: { texts: ['{{x}}', 'is [[y]]'] },
    });
  });
});
