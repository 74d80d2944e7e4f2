import { describe, expect, it } from 'vitest';
import { endFaulty } from '../../../src/engine/loop/end-job.js';
import type { JobParts } from '../../../src/engine/loop/job-parts.js';
import { createLogOnce } from '../../../src/engine/events/log-once.js';
import { failure } from '../../../src/model/failures.js';
import type { WriteResult } from '../../../src/store/batch.js';

const doc = { _id: 'j', _rev: '1-a', type: 'job', flow: 'f', state: 'a-0', steps: [] };
const why = failure('DecisionFault', { reason: 'it throws' });
const full: WriteResult = { kind: 'unknown', cause: '507' };
const late: WriteResult = { kind: 'unknown', cause: 'no answer' };
const refused: WriteResult = { kind: 'refused', reason: 'It is too long.' };
const written: WriteResult = { kind: 'written', rev: '2-b' };

/** Ends a job as often as the database answers, and returns the log. */
async function logOf(answers: readonly WriteResult[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const open = [...answers];
  const log = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [
      level,
      (_about: object, message: string) => void lines.push(`${level}: ${message}`),
    ]),
  ) as unknown as JobParts['log'];
  const parts = {
    store: { get: async () => doc, view: async () => [], write: async () => open.shift() },
    retry: <T>(ask: () => Promise<T>) => ask(),
    ...{ log, once: createLogOnce(log), life: new AbortController(), now: () => 7 },
    attempts: { of: () => [] },
    serializer: { drop: () => undefined },
    waitQueue: { leave: () => undefined },
    notifications: { ofEnd: async (_doc: unknown, ended: unknown) => ended },
    locks: { adopt: () => undefined, release: async () => undefined },
    replicas: { many: false },
  } as unknown as JobParts;
  while (open.length > 0) await endFaulty(parts, doc, why);
  return lines;
}

const because = `error: Job j: ${why.message}`;
const waits = (cause: string): string => `warn: Job j cannot be ended yet: ${cause}. Trying again.`;

describe('the log of a job that is ended', () => {
  it.each<[string, WriteResult[], string[]]>([
    ['tells why', [written], [because]],
    [
      'tells each cause that keeps it from being stored once, and that it is stored',
      [full, full, late, full, late, written],
      [because, waits('507'), waits('no answer'), 'info: Job j is stored now.'],
    ],
    [
      'tells once that the database refuses it',
      [refused, refused],
      [because, 'error: The job cannot be ended: It is too long.'],
    ],
    ['tells it anew after it was stored', [written, written], [because, because]],
    [
      'tells it anew after another engine was faster',
      [{ kind: 'conflict' }, full],
      [because, because, waits('507')],
    ],
  ])('%s', async (_what, answers, lines) => {
    expect(await logOf(answers)).toEqual(lines);
  });
});
