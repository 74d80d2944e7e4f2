import { describe, expect, it } from 'vitest';
import { usesOfFlows, type FlowUse } from '../../src/cli/prune-use.js';

const flow = (version: string | undefined, more: object = {}) => ({
  ...{ _id: `v@${version ?? ''}`, _rev: '1-a', type: 'flow', name: 'v', owner: 'DEFAULT' },
  ...(version === undefined ? {} : { version }),
  ...more,
});
const job = (more: object) => ({ _id: 'j', _rev: '1-a', type: 'job', flow: 'v', ...more });
const [one, two, plain] = [flow('1'), flow('2'), flow(undefined)];
const marked = flow('1', { current: true });
const alone = 'v@ in the database: 1 job that has not ended asks for it: j.';
const current = 'v@1 in the database: it is the current version of the flow and no file holds it;';
const asked = 'v@1 in the database: 1 job that has not ended asks for version "1" of it: j.';

describe('usesOfFlows', () => {
  it.each<[string, Partial<FlowUse>, readonly string[]]>([
    ['nothing of a task', { removed: [{ _id: 'a', _rev: '1-a', type: 'task' }] }, []],
    ['nothing of a flow that goes as a whole', { removed: [one], flows: [one] }, []],
    [
      'the current version, and the one that follows it',
      { removed: [marked], flows: [marked, two] },
      [`${current} without it version "2" is current.`],
    ],
    [
      'the current version where none follows it',
      { removed: [marked], flows: [marked, two, flow('3')] },
      [`${current} without it none is current, and jobs that ask for no version fail.`],
    ],
    [
      'the current version that has no mark',
      { removed: [plain], flows: [plain, two] },
      [
        'v@ in the database: it is the current version of the flow and no file holds it; without it version "2" is current.',
      ],
    ],
    ['nothing of a version that is not current', { removed: [two], flows: [marked, two] }, []],
    [
      'nothing of a current version where a file takes its place',
      { removed: [marked], flows: [marked, two], pushed: [flow('2', { current: true })] },
      [],
    ],
    [
      'a job that asks for the version, begun or not',
      {
        ...{ removed: [one], flows: [one, flow('2', { current: true })] },
        jobs: [job({ flow_version: 1 }), job({ _id: 'k', flow_version: '1', state: '$$ready' })],
      },
      ['v@1 in the database: 2 jobs that have not ended ask for version "1" of it: j, k.'],
    ],
    [
      'a job that has not begun, of a flow that goes as a whole',
      { removed: [plain], flows: [plain], jobs: [job({})] },
      [alone],
    ],
    [
      'nothing of jobs that need no stored flow, ask for others or are of another flow',
      {
        ...{ removed: [one], flows: [one] },
        jobs: [
          job({ state: '$$ready' }),
          job({ tasks: ['a'] }),
          job({ flow_version: '2' }),
          job({ flow: 'w', flow_version: '1' }),
        ],
      },
      [],
    ],
    [
      'a job of an owner without such a flow',
      { removed: [one], flows: [one], jobs: [job({ owner: 'me', flow_version: '1' })] },
      [asked],
    ],
    [
      'nothing of a job whose owner has such a flow',
      {
        ...{ removed: [one], flows: [one, flow('1', { _id: 'own', owner: 'me' })] },
        jobs: [job({ owner: 'me', flow_version: '1' })],
      },
      [],
    ],
    [
      'nothing of a job of everybody, of the flow of an owner',
      {
        ...{ removed: [flow('1', { owner: 'me' })], flows: [flow('1', { owner: 'me' })] },
        jobs: [job({ flow_version: '1' })],
      },
      [],
    ],
  ])('tells %s', (_title, use, expected) => {
    const found = usesOfFlows({ removed: [], flows: [], pushed: [], jobs: [], ...use });
    expect(found.map(({ file, message }) => `${file}: ${message}`)).toEqual(expected);
  });
});
