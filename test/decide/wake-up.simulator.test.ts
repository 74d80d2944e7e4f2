import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../src/decide/intent.js';
import { isFinal } from '../../src/model/job.js';
import { isLive } from '../../src/model/step.js';
import { parseDocument } from '../../src/reading/parse.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { t0, task as taskOf } from '../support/builders.js';
import { minutes, runs } from '../support/properties.js';
import { story, type Story } from './story.js';

/**
 * Every job that rests has something that wakes it: an attempt that runs, a time, a signal or an event
 * that a step waits for, a child job, an engine or slot that comes free, or the end of a pause.
 */

const leaf: fc.Arbitrary<WrittenNode> = fc.constantFrom<WrittenNode>(
  'a',
  { decider: 'boss' },
  { decider: 'boss', optional: true },
  { delay: 5 },
  { wait: { signal: 'go' } },
  { wait: { signal: 'go', timeout: 20 } },
  { wait: { event: 'e' } },
);
const node: fc.Arbitrary<WrittenNode> = fc.oneof(
  leaf,
  fc.array(leaf, { minLength: 1, maxLength: 3 }).map((parallel) => ({ parallel })),
  leaf.map((one) => ({ map: { over: [1, 2], limit: 1, do: one } })),
);

/** What a decider answers. */
const decisions = fc.array(
  fc.constantFrom<unknown>(
    { schedule: 'a' },
    { schedule: 'a', id: 'x' },
    { schedule: 'a', id: 'on_failure' },
    { start_timer: 5, id: 't' },
    { cancel: 't' },
    { cancel: 'x' },
    { complete: 1 },
  ),
  { maxLength: 2 },
);
const act = fc.record({
  what: fc.constantFrom('end', 'end', 'fail', 'signal', 'time', 'pause', 'resume'),
  decisions,
});

function hasWakeUp({ job, steps }: Story, intent: Intent): boolean {
  if (intent.kind !== 'wait') return true;
  if (intent.until !== undefined || intent.for !== undefined) return true;
  if ('paused' in job && job.paused === true) return true;
  return steps.some(
    (step) =>
      isLive(step) ||
      (step.state === '$$waiting' &&
        [step.signal, step.event, step.child, step['news']].some((of) => of !== undefined)),
  );
}

/** Decides until the job rests. */
function rest(told: Story): Intent {
  for (let rounds = 0; rounds < 30; rounds += 1) {
    const intent = told.go();
    if (!('job' in intent)) return intent;
    const stored = JSON.parse(JSON.stringify(intent.job)) as StoredDocument;
    expect(parseDocument(stored)).toMatchObject({ kind: 'job', ok: true });
    if (isFinal(told.job)) return told.decide();
  }
  throw new Error('The job comes to no rest.');
}

function perform(told: Story, { what, decisions: answer }: { what: string; decisions: unknown }) {
  const [task] = told.running;
  if (what === 'signal') return void told.signal('go');
  if (what === 'time') return void told.at(told.now - t0 + 10);
  if (what === 'pause' || what === 'resume') return void told.edit({ paused: what === 'pause' });
  if (task === undefined) return;
  if (what === 'fail') told.broke(task);
  else told.did(task, task === 'boss' ? answer : 'r');
}

describe('a live job that is not run', () => {
  it('has something that wakes it, whatever its structure and its deciders do', minutes, () => {
    fc.assert(
      fc.property(
        fc.array(node, { minLength: 1, maxLength: 3 }),
        fc.array(act, { maxLength: 12 }),
        fc.constantFrom(0, 50),
        (steps, acts, timeout) => {
          const plugins = ['boss', 'a'];
          const tasks = [taskOf('a')];
          const told = story({ steps, tasks, flow: { timeout }, world: { plugins, freeSlots: 9 } });
          expect(hasWakeUp(told, rest(told))).toBe(true);
          for (const one of acts) {
            if (isFinal(told.job)) return;
            perform(told, one);
            if (!isFinal(told.job)) expect(hasWakeUp(told, rest(told))).toBe(true);
          }
        },
      ),
      runs(500),
    );
  });
});
