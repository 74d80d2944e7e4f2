import { describe, expect, it } from 'vitest';
import { initialise } from '../../../src/decide/start/initialise.js';
import type { LiveJob } from '../../../src/model/job.js';
import { flow, newJob, t0, task, world } from '../../support/builders.js';

type Fields = Readonly<Record<string, unknown>>;
type Written = { readonly job?: Fields; readonly flow?: Fields; readonly task?: Fields };

function problemsOf({ job = {}, flow: ofFlow = {}, task: ofTask = {} }: Written) {
  const seen = world({
    flow: () => ({ kind: 'found', value: { ...flow(['a']), ...ofFlow } }),
    task: () => ({ kind: 'found', value: { ...task('a'), ...ofTask } }),
  });
  const move = initialise(newJob(job), t0, seen);
  return (move as { readonly job: LiveJob }).job.problems ?? [];
}

const entry = (fields: Fields) => ({
  structure: 'sequence',
  sequence: [{ task: 'a', ...fields }],
});

describe('a job that begins', () => {
  it.each<readonly [string, Written, string, string]>([
    ['a key of the job from elsewhere', { job: { cron: '* * * * *' } }, 'cron', 'exec_after'],
    ['a key of the job that flows have', { job: { timeout: 5 } }, 'timeout', 'a flow'],
    ['a mistyped key of the job', { job: { priorty: 5 } }, 'priorty', 'priority'],
    ['a key of the flow', { flow: { catch: 'b' } }, 'flow_definition.catch', '"error"'],
    [
      'what other engines call retain',
      { flow: { retention: 1 } },
      'flow_definition.retention',
      '"retain" of a flow',
    ],
    [
      'a key of an entry',
      { flow: { tasks: entry({ rate: 1 }) } },
      'tasks.sequence[0].rate',
      'rate',
    ],
    [
      'a key of an entry of its own',
      { job: { flow: undefined, tasks: entry({ cache: 1 }) } },
      'tasks.sequence[0].cache',
      'belongs to a task',
    ],
    [
      'a limit of a map that is too high',
      {
        flow: { tasks: { structure: 'map', map: { over: [1], limit: 5_000, do: { task: 'a' } } } },
      },
      'tasks.map.limit',
      'only a part counts',
    ],
    ['a key of a task', { task: { parallelism: 1 } }, 'definitions.a.parallelism', '"slots"'],
  ])('tells %s', (_title, written, path, part) => {
    const found = problemsOf(written);
    expect(found.map((one) => one.path)).toEqual([path]);
    expect(found[0]?.message).toContain(part);
    expect(found[0]?.message.startsWith(path)).toBe(true);
  });

  it.each<readonly [string, Written]>([
    ["keys of one's own", { job: { note: 1, custom: 2 }, flow: { team: 'us' }, task: { x: 1 } }],
    ['what engines and other programs write', { job: { traceparent: 'x', retry_refused: 1 } }],
    ['parameters and data', { job: { data: { cron: 1 }, keys: { catch: 1 } } }],
  ])('says nothing of %s', (_title, written) => {
    expect(problemsOf(written)).toEqual([]);
  });

  it('tells a few of very many', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`flow_${i}`, i]));
    const nodes = Array.from({ length: 5000 }, () => ({ task: 'a', cache: true }));
    const tasks = { structure: 'sequence', sequence: nodes };
    expect(problemsOf({ job: many, flow: { tasks } })).toHaveLength(20);
  });
});
