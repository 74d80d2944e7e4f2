import type { NewDocument } from '../../src/store/writer.js';

/** What a job of a flow comes to when every step of it and of its children completes once. */
type Expected = {
  readonly name: string;
  readonly tasks: readonly unknown[];
  readonly more?: Readonly<Record<string, unknown>>;
  /** Ids of the jobs that are made for it, after its own id. */
  readonly children: readonly string[];
  /** Steps of task `witness` that complete, in it and in those. */
  readonly witnessed: number;
};

const witness = 'witness';
const child = { flow: 'child' };
const map = { over: 'params.items', slice: 2, do: witness };

/** The flows of the jobs that are submitted, in turn. */
const submitted: readonly Expected[] = [
  { name: 'chaos', tasks: Array<string>(3).fill(witness), children: [], witnessed: 3 },
  {
    name: 'family',
    tasks: [child, { parallel: [child, witness] }],
    children: [':0:1', ':1.parallel.0:1'],
    witnessed: 3,
  },
  {
    name: 'sliced',
    tasks: [{ map }, witness],
    children: [':0.slice.0:1', ':0.slice.1:1', ':0.slice.2:1'],
    witnessed: 6,
  },
  {
    name: 'plan',
    tasks: [{ decider: 'boss', name: 'd' }],
    children: [':0.child.b:1', '~2', '~2:0.child.b:1'],
    witnessed: 4,
  },
];

/** The time of a flow is counted by the clocks of those who begin and end it: here they are wrong. */
const common = { type: 'flow', owner: 'DEFAULT', timeout: 0 } as const;

/** The documents of a project. */
export const definitions: readonly NewDocument[] = [
  { _id: 'task:DEFAULT:witness', type: 'task', name: witness },
  { _id: 'flow:DEFAULT:child', ...common, name: 'child', tasks: [witness], max_running: 8 },
  ...submitted.map(({ name, tasks }) => ({
    ...{ _id: `flow:DEFAULT:${name}`, ...common, name, tasks },
  })),
];

/** The n-th job; one in five has a target of its own. */
export function jobNumber(n: number): NewDocument {
  const { name } = flowOf(n);
  const target = n % 5 === 0 ? { target: `target-${n}` } : {};
  const params = { items: [1, 2, 3, 4, 5] };
  return { _id: `job-${n}`, type: 'job', flow: name, owner: 'DEFAULT', params, ...target };
}

function flowOf(n: number): Expected {
  return submitted[n % submitted.length] as Expected;
}

/** Whether the id is that of a job that was submitted. */
export function isSubmitted(id: string): boolean {
  return /^job-\d+$/.test(id);
}

/** The submitted job that a job was made for, or is. */
export function rootOf(id: string): string {
  return /^job-\d+/.exec(id)?.[0] ?? id;
}

/** What is expected of a submitted job. */
export function expectedOf(id: string): Pick<Expected, 'children' | 'witnessed'> {
  return flowOf(Number(id.slice('job-'.length)));
}
