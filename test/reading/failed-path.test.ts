import { describe, expect, it } from 'vitest';
import { failedPath } from '../../src/reading/failed-path.js';
import type { LiveJob } from '../../src/model/job.js';
import { begun, type Story } from '../decide/story.js';

const pathOf = (told: Story): string | undefined => failedPath(told.job as unknown as LiveJob);

describe('the step that failed a job', () => {
  it('is the first item of a map that failed, also when others have the same message', () => {
    const told = begun([{ map: { over: [1, 2, 3], do: 'a' } }], { world: { freeSlots: 9 } });
    told.broke('0.map.2').broke('0.map.1').did('0.map.0');
    expect(told.job).toMatchObject({ exit: 2 });
    expect(pathOf(told)).toBe('0.map.1');
  });

  it('is none that the flow passed over', () => {
    const told = begun([{ task: 'a', optional: true }, 'b']);
    told.broke('a').broke('b');
    expect(pathOf(told)).toBe('1');
  });

  it('is none of a job whose flow has not failed', () => {
    expect(pathOf(begun(['a', 'b']).did('a'))).toBeUndefined();
  });
});
