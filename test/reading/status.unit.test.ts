import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { statusOf } from '../../src/reading/status.js';
import type { Status } from '../../src/model/status.js';
import { json } from '../model/arbitraries.js';

const now = 1_000_000;
const step = (state: string) => ({ state });

const cases: readonly (readonly [title: string, job: object, status: Status])[] = [
  ['a new job', {}, 'queued'],
  ['a new job for later', { exec_after: now + 1 }, 'scheduled'],
  ['a new job for later, as a date', { exec_after: '2026-01-01T00:00:00Z' }, 'scheduled'],
  ['a new job whose time has come', { exec_after: now }, 'queued'],
  ['a new job with a time that is none', { exec_after: 'soon' }, 'queued'],
  ['an initialised job', { state: '$$ready', steps: [] }, 'queued'],
  ['an initialised job for later', { state: '$$ready', steps: [], next_due: now + 1 }, 'scheduled'],
  ['a claimed step', { state: 'a-0', steps: [step('$$ready')] }, 'running'],
  ['a running step', { state: 'a-0', steps: [step('$$active')] }, 'running'],
  ['a job between two steps', { state: 'a-0', steps: [step('$$complete')] }, 'running'],
  ['a wait for a retry', { state: 'a-0', steps: [step('$$error')], next_due: now + 1 }, 'waiting'],
  ['a retry that is due', { state: 'a-0', steps: [step('$$error')], next_due: now }, 'running'],
  ['a wait for a child job', { state: 'a-0', steps: [step('$$waiting')] }, 'waiting'],
  ['a wait beside a running step', { steps: [step('$$waiting'), step('$$active')] }, 'running'],
  ['a paused job', { state: '$$paused', steps: [step('$$complete')] }, 'paused'],
  ['a job that succeeded', { state: '$$complete', exit: 0 }, 'succeeded'],
  ['a job that failed', { state: '$$complete', exit: 2 }, 'failed'],
  ['a final job without an exit', { state: '$$complete' }, 'failed'],
  ['a cancelled job', { state: '$$cancelled', exit: 130 }, 'cancelled'],
  ['steps that are no list', { state: 'a-0', steps: { 0: step('$$active') } }, 'queued'],
  ['a step that is null', { state: 'a-0', steps: [null] }, 'running'],
];

describe('statusOf', () => {
  // Shows D-07.
  it.each(cases)('of %s: %j is %s', (_title, job, status) => {
    expect(statusOf(job as Record<string, unknown>, now)).toBe(status);
  });

  it('has an answer for any document', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(typeof statusOf({ ...(value as object) }, now)).toBe('string');
      }),
    );
  });
});
