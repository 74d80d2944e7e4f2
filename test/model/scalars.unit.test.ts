import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liveStateSchema } from '../../src/model/job.js';
import { durationSchema, nameSchema, timeSchema, toEpochMs } from '../../src/model/scalars.js';
import { keyOf, pluginOf } from '../../src/model/task.js';

describe('a name', () => {
  it('makes a state that is one, and a key of which it is the beginning', () => {
    const names = fc.string({ minLength: 1, unit: 'binary' });
    fc.assert(
      fc.property(names, fc.nat(), (name, n) => {
        fc.pre(nameSchema.safeParse(name).success);
        const job = { type: 'job', state: `${name}-${n}` };
        expect(liveStateSchema.safeParse(job).success).toBe(true);
        expect(keyOf(name, 'o').split('::')).toHaveLength(2);
        expect(Object.keys(JSON.parse(JSON.stringify({ [name]: 1 })) as object)).toEqual([name]);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['\u2028', 'a\u2028b', 'a\u0085', 'a\tb', '__proto__', '$$', '::'])(
    'cannot be %j',
    (name) => {
      expect(nameSchema.safeParse(name).success).toBe(false);
    },
  );
});

describe('a time', () => {
  it.each([
    [0, 0],
    [1_790_000_000_000, 1_790_000_000_000],
    ['1970-01-01T00:00:01Z', 1000],
    ['1970-01-01T00:00:01.5Z', 1500],
    ['1970-01-01T02:00:01+02:00', 1000],
    ['1970-01-01T00:00Z', 0],
  ])('may be %j', (time, epochMs) => {
    expect(toEpochMs(timeSchema.parse(time))).toBe(epochMs);
  });

  it('that is accepted can be shown, also a hundred years later', () => {
    const texts = fc
      .date({ noInvalidDate: true, min: new Date('0000-01-01'), max: new Date('9999-12-31') })
      .map((date) => date.toISOString());
    const times = fc.oneof(fc.double(), fc.maxSafeInteger(), texts);
    const longest = 3_155_760_000_000;
    expect(durationSchema.safeParse(longest).success).toBe(true);
    fc.assert(
      fc.property(times, (time) => {
        fc.pre(timeSchema.safeParse(time).success);
        expect(new Date(toEpochMs(time) + longest).toISOString()).toContain('T');
      }),
    );
  });
});

describe('the plugin of a task', () => {
  // Shows A-02.
  it('is the one it names, else its own name', () => {
    expect(pluginOf({ name: 'a' })).toBe('a');
    expect(pluginOf({ name: 'a', plugin: 'b' })).toBe('b');
  });
});

describe('the key of a definition', () => {
  it('has DEFAULT where there is no owner', () => {
    expect(keyOf('a', undefined)).toBe('a::DEFAULT');
    expect(keyOf('a', 'me')).toBe('a::me');
  });
});
