import { expect, it } from 'vitest';
import { originOf, originSentence } from '../../src/reading/origin.js';

const slot = { id: 'schedule:me:s', name: 's', slot: 60_000, time: '1970-01-01T00:01:00Z' };

it.each([
  [{}, undefined],
  [{ schedule: 'nightly', started_by: null }, undefined],
  [{ schedule: { slot: 1 } }, undefined],
  [{ started_by: { event: 7 } }, undefined],
  [{ schedule: slot }, 'Started by schedule s for 1970-01-01T00:01:00Z.'],
  [{ schedule: { id: 'x' } }, 'Started by schedule x.'],
  [{ schedule: { ...slot, slot: 60_001 } }, 'Schedule s was run, beside its slots.'],
  [
    { schedule: { ...slot, slot: 60_001, cause: 'run', by: 'ada' } },
    'Schedule s was run by ada, beside its slots.',
  ],
  [
    { schedule: { ...slot, cause: 'backfill', by: 'ada' } },
    'Started by a backfill by ada of schedule s for 1970-01-01T00:01:00Z.',
  ],
  [{ started_by: { event: 'e1', entry: 0 } }, 'Started by event e1.'],
  [{ started_by: { gathering: 'g', events: [] } }, undefined],
  [{ started_by: { gathering: 'g', events: 'e1' } }, undefined],
  [{ started_by: { gathering: 'g', events: ['e1'] } }, 'Started by event e1.'],
  [{ started_by: { gathering: 'g', events: ['e1', 'e2'] } }, 'Started by event e2 and 1 other.'],
  [
    { started_by: { gathering: 'g', events: ['e1', 'e2', 'e3'], problem: 'no.' } },
    'Started by event e3 and 2 others. It could not be followed: no.',
  ],
  [{ started_by: { signal: 's1' } }, 'Started by signal s1.'],
  [{ started_by: { hook: 'h' } }, 'Started by a delivery to hook h.'],
  [
    { started_by: { hook: 'h', delivery: 'd1', problem: 'params is no object.' } },
    'Started by delivery d1 to hook h. It could not be followed: params is no object.',
  ],
])('what started %j is told: %s', (job, sentence) => {
  const origin = originOf(job);
  expect(origin && originSentence(origin)).toBe(sentence);
});
