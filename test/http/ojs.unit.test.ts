import { describe, expect, it } from 'vitest';
import { durationMs } from '../../src/http/ojs/durations.js';
import { envelopeOf, isAlone } from '../../src/http/ojs/envelope.js';
import { failureOf } from '../../src/http/ojs/failure.js';
import { ourRetry } from '../../src/http/ojs/options.js';
import { ojsHeaders } from '../../src/http/ojs/protocol.js';
import {
  ojsStateOf,
  ojsStates,
  stateOfStatus,
  detailedStatusOf,
} from '../../src/http/ojs/states.js';
import { uuidV7 } from '../../src/http/ojs/uuid.js';
import { localPrincipal } from '../../src/http/access/principal.js';
import type { Refused } from '../../src/http/answers/problems.js';
import { newJobOf, orderedJobOf } from '../../src/http/routes/new-job.js';
import type { StoredDocument } from '../../src/model/document.js';
import { statuses } from '../../src/model/status.js';
import { offerName } from '../../src/model/work.js';

const now = Date.UTC(2026, 0, 1);
const job = (more: Readonly<Record<string, unknown>> = {}): StoredDocument => ({
  ...{ _id: 'j', _rev: '1-a', type: 'job', flow: 'f' },
  ...more,
});
const offer = offerName({ queue: 'default', priority: 500, at: now, id: 'x' });
const live = (...steps: readonly object[]) => ({ state: 'a-0', steps });

describe('the state of a job', () => {
  it('is known for every status, and every state can be', () => {
    expect(statuses.filter((status) => stateOfStatus[status] === undefined)).toEqual([]);
    expect([...new Set(Object.values(stateOfStatus))].toSorted()).toEqual(ojsStates.toSorted());
  });

  it.each<[string, Readonly<Record<string, unknown>>, string, string]>([
    ['is new', {}, 'queued', 'available'],
    ['is for later', { exec_after: now + 1 }, 'scheduled', 'scheduled'],
    ['is new and halts', { paused: true }, 'paused', 'pending'],
    ['is paused', { state: '$$paused', steps: [] }, 'paused', 'pending'],
    ['runs', live({ state: '$$active' }), 'running', 'active'],
    ['is being offered', live({ state: '$$active', plugin: 'worker' }), 'offered', 'available'],
    ['is offered to workers', live({ state: '$$waiting', signal: offer }), 'offered', 'available'],
    [
      'is in the hands of a worker',
      live({ state: '$$waiting', signal: 'lease/x', worker: 'w' }),
      'waiting',
      'active',
    ],
    ['waits for a signal', live({ state: '$$waiting', signal: 'go' }), 'waiting', 'active'],
    ['waits to be tried again', live({ state: '$$error', due: now + 1 }), 'retrying', 'retryable'],
    ['is due again', live({ state: '$$error', due: now }), 'offered', 'available'],
    ['is between two steps', live({ state: '$$complete' }), 'running', 'active'],
    [
      'goes on after a retry',
      { state: '$$ready', steps: [{ state: '$$error' }] },
      'offered',
      'available',
    ],
    [
      'goes on in another run',
      { ...live({ state: '$$error', run: 1 }), run: 2 },
      'offered',
      'available',
    ],
    ['succeeded', { state: '$$complete', exit: 0 }, 'succeeded', 'completed'],
    ['failed', { state: '$$complete', exit: 2 }, 'failed', 'discarded'],
    ['was cancelled', { state: '$$cancelled', exit: 130 }, 'cancelled', 'cancelled'],
  ])('that %s', (_title, more, standing, state) => {
    expect([detailedStatusOf(job(more), now), ojsStateOf(job(more), now)]).toEqual([
      standing,
      state,
    ]);
  });
});

describe('a job as the specification has it', () => {
  it.each<[Readonly<Record<string, unknown>>, object]>([
    [{}, { type: 'f', args: [], queue: 'default', priority: 0, attempt: 0, meta: {} }],
    [
      { params: { a: { b: 1 } }, priority: 400 },
      { args: [{ a: { b: 1 } }], priority: 100 },
    ],
    [{ flow: undefined, tasks: ['x'] }, { type: 'tws.tasks' }],
    [
      { exec_after: 'no time', expires: '2026-01-02T00:00:00Z' },
      { expires_at: '2026-01-02T00:00:00.000Z' },
    ],
    [
      { ojs: { type: 't.x', args: [1], more: { state: 'made up', x: 1 } } },
      { type: 't.x', x: 1, state: 'available' },
    ],
    [{ steps: 'nonsense', ojs: 7, tags: [1, 'a'] }, { tags: ['a'] }],
    [
      {
        state: '$$complete',
        exit: 1,
        end: now,
        failure: { name: 'FlowTimeout', message: 'Late.' },
      },
      { error: { code: 'timeout', type: 'FlowTimeout' }, discarded_at: '2026-01-01T00:00:00.000Z' },
    ],
    [
      live({ plugin: 'worker', run: 1, path: '0', state: '$$waiting', signal: offer }),
      { attempt: 0 },
    ],
    [
      live({ plugin: 'worker', run: 1, path: '0', worker: 'w', state: '$$waiting' }),
      { attempt: 1 },
    ],
    [
      // A dead letter that is tried again is counted anew; what was given back counts for nothing.
      {
        ...live(
          { plugin: 'worker', run: 1, path: '0', worker: 'w', state: '$$error', end: now },
          { plugin: 'worker', run: 2, path: '0', worker: 'w', state: '$$error', end: now },
          { plugin: 'worker', run: 2, path: '0', state: '$$waiting', signal: offer },
        ),
        run: 2,
      },
      { attempt: 1 },
    ],
    [
      live({ state: '$$waiting', worker: 'w', start: now - 9, leased: now }),
      { started_at: '2026-01-01T00:00:00.000Z' },
    ],
    [
      live(
        {
          attempt: 1,
          state: '$$timeout',
          end: now,
          failure: { name: 'WorkerLost', message: 'Lost.' },
        },
        { attempt: 2, state: '$$active' },
      ),
      {
        error: { code: 'timeout', type: 'WorkerLost' },
        errors: [{ attempt: 1, occurred_at: '2026-01-01T00:00:00.000Z' }],
      },
    ],
  ])('of %j', (more, wanted) => {
    expect(envelopeOf(job(more), now)).toMatchObject(wanted);
  });

  it.each<[unknown, boolean]>([
    [['a'], true],
    [[{ task: 'a' }], true],
    [{ structure: 'sequence', sequence: [{ task: 'a' }] }, true],
    [['a', 'b'], false],
    [[{ parallel: ['a'] }], false],
    [undefined, false],
  ])('is one step where its tasks are %j: %j', (tasks, alone) => {
    expect(isAlone(job({ tasks }))).toBe(alone);
  });
});

describe('a retry policy of the specification', () => {
  it.each<[Parameters<typeof ourRetry>[0], object]>([
    [{}, { limit: 2, delay: 1000, factor: 2, max: 300_000, spread: 0.5 }],
    [{ backoff_type: 'linear' }, { growth: 'linear', delay: 1000 }],
    [{ backoff_strategy: 'polynomial' }, { growth: 'power', factor: 2 }],
    [{ backoff_strategy: 'none' }, { delay: 0, factor: 1 }],
    [
      { max_attempts: 0, jitter: false },
      { limit: 0, delay: 1000 },
    ],
    [
      { max_attempts: 5, initial_interval: 'PT1M', max_interval_ms: 7, backoff_coefficient: 3 },
      { limit: 4, delay: 60_000, max: 7, factor: 3 },
    ],
    [
      { backoff_strategy: 'constant', non_retryable_errors: ['a.*'] },
      { factor: 1, never: ['a.*'] },
    ],
  ])('%j is ours', (theirs, ours) => {
    expect(ourRetry(theirs)).toMatchObject(ours);
  });

  it('that contradicts itself is refused', () => {
    expect(() => ourRetry({ initial_interval: 'PT1S', initial_interval_ms: 2 })).toThrow(
      'different',
    );
  });
});

describe('a duration', () => {
  it.each<[string, number | undefined]>([
    ['PT0.5S', 500],
    ['PT1H2M3S', 3_723_000],
    ['P1DT1S', 86_401_000],
    ['P1D', 86_400_000],
    ['P', undefined],
    ['PT', undefined],
    ['P1DT', undefined],
    ['P1M', undefined],
    ['1S', undefined],
    [`PT${'1'.repeat(50)}S`, undefined],
  ])('%s is %j ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });
});

describe('an order that differs from one before in what it carries only', () => {
  const of = (ojs: object, _id = 'one') => ({
    ...{ _id, type: 'job', tasks: [{ task: 'w', params: { worker: { type: 'w' } } }] },
    ojs: { type: 'w', args: [], ...ojs },
  });
  const judged = (by: typeof orderedJobOf, order: ReturnType<typeof of>): unknown => {
    try {
      return by(order, { principal: localPrincipal });
    } catch (error) {
      return (error as Refused).found;
    }
  };
  let deep: unknown = 1;
  for (let level = 0; level < 300; level += 1) deep = [deep];

  it.each<[what: string, order: ReturnType<typeof of>]>([
    ['what fits', of({ args: [1] })],
    ['too much text', of({ args: ['x'.repeat(1_048_577)] })],
    ['too many values', of({ args: [Array.from({ length: 10_001 }, () => 1)] })],
    ['far too many values', of({ args: [Array.from({ length: 50_001 }, () => 1)] })],
    ['lists that are too deep', of({ args: [deep] })],
    ['the sign of a secret', of({ meta: { password: '[secret]' } })],
    ['an id of other documents', of({}, 'task:w')],
    ['an id that is none', of({}, '.')],
  ])('is judged as any other: %s', (what, order) => {
    orderedJobOf(of({}), { principal: localPrincipal });
    const usual = judged(newJobOf, order);
    expect(judged(orderedJobOf, order)).toEqual(usual);
    expect(Array.isArray(usual)).toBe(what !== 'what fits');
  });
});

describe('an id', () => {
  it('is a UUID of version 7 that tells its time', () => {
    const id = uuidV7(now, new Uint8Array(10).fill(255));
    expect(id).toBe('019b76da-a800-7fff-bfff-ffffffffffff');
    expect(parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
  });

  it('of a request is that of whoever asks, where it is a sensible one', () => {
    const given = ojsHeaders({ 'x-request-id': 'a b' }, now)['x-request-id'];
    expect(given).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(ojsHeaders({ 'x-request-id': 'req-1' }, now)['x-request-id']).toBe('req-1');
  });
});

describe('a failure that a worker tells', () => {
  const long = 'x'.repeat(20_000);
  it.each([
    [{ message: 'No.' }, { name: 'handler_error', message: 'No.' }],
    [
      { message: '', type: '', code: 'smtp' },
      { name: 'smtp', message: '', code: 'smtp' },
    ],
    [
      { message: 'No.', type: 'a.b', code: 'c', retryable: false, details: { port: 25 } },
      { name: 'a.b', message: 'No.', code: 'c', retryable: false, details: { port: 25 } },
    ],
    [
      { message: long, type: long, details: { long } },
      {
        name: `${'x'.repeat(200)}…`,
        message: `${'x'.repeat(4_000)}…`,
        details: { $omitted: 20_011 },
      },
    ],
  ])('is kept in short', (error, failure) => {
    expect(failureOf(error)).toEqual(failure);
  });
});
