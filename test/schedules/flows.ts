import { stepsIn, type LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import type { World } from '../../src/decide/world.js';
import type { Outcome } from '../../src/decide/finish/outcome.js';
import { toBigResult } from '../../src/model/big-result.js';
import { isOpen, type LiveStep } from '../../src/model/step.js';
import { flow, task } from '../support/builders.js';
import { waitingStep } from './user.js';

type TestFlow = ReturnType<typeof flow>;

const tasks = ['t0', 't1', 't2'].map((name, i) =>
  task(name, { plugin: 'p', timeout: 0, retry: i === 1 ? 3 : 1 }),
);
const names = tasks.map(({ name }) => name);
const waits = { wait: { signal: 'go' }, name: waitingStep } as const;
const calm = { timeout: 0 };
const child = { flow: 'c' } as const;
const sliced = (each: unknown) => ({ map: { over: 'items', slice: 2, do: each } });

/** Flows that wait for a signal. */
const waiting = [
  flow(['t0', waits, 't1'], calm),
  flow([{ structure: 'parallel', parallel: [['t0', 't1'], waits] }, 't2'], calm),
  flow([{ parallel: [child, waits], join: 'any' }, 't1'] as never, calm),
];

const waitingChild = { flow: 'w' } as const;

/** Flows of which the children wait for a signal. */
const waitingBelow = [
  flow([waitingChild, 't2'] as never, calm),
  flow([sliced(waitingChild)] as never, calm),
];

/** What the job of a schedule runs. */
export const flows = [
  ...[1, 2, 3].map((steps) => flow(names.slice(0, steps), calm)),
  flow([{ structure: 'parallel', parallel: names.slice(0, 2) }, 't2'], calm),
  ...waiting,
  ...waitingBelow,
  flow([child] as never, calm),
  flow(['t0', { parallel: [child, child] }, 't2'] as never, calm),
  flow([sliced('t0'), 't2'] as never, calm),
  flow([sliced(child)] as never, calm),
  flow([{ decider: 'p', name: 'd' }, 't2'] as never, calm),
];

/** A flow that other flows name: one job of it runs at a time. */
const childFlow = flow(['t0', 't1'], { ...calm, name: 'c', max_running: 1 });

/** What the jobs run that want the same locks as the job of the schedule. */
const rivalFlow = flow(['t0', 't1'], { ...calm, name: 'k' });

const waitingChildFlow = flow(['t0', waits], { ...calm, name: 'w' });

export function namedFlow(name: string): TestFlow | undefined {
  return [childFlow, rivalFlow, waitingChildFlow].find((one) => one.name === name);
}

/** Somebody has to send each child a signal. */
export function hasWaitingChildren(one: TestFlow): boolean {
  return waitingBelow.includes(one);
}

/** Somebody has to send a signal, or skip the step that waits for it. */
export function wakesUp(one: TestFlow): boolean {
  return waiting.includes(one);
}

export function taskOf(name: string): ReturnType<World['task']> {
  const value = tasks.find((one) => one.name === name);
  return value === undefined ? { kind: 'absent' } : { kind: 'found', value };
}

/** How an attempt ends, and after how many ms. Some results are kept as attachments. */
export function drawAttempt(
  job: LeafRevision,
  step: LiveStep,
  chance: () => number,
): { readonly ms: number; readonly outcome: Outcome } {
  const ms = chance() ** 3 * 6_000;
  if (chance() < 0.15) {
    return { ms, outcome: { kind: 'failed', failure: { name: 'Broken', message: 'Broken.' } } };
  }
  if (typeof step['seen'] === 'number') {
    return { ms, outcome: { kind: 'done', result: decisions(job, step) } };
  }
  const result = `of ${step.claim}`;
  const big = chance() < 0.3 ? { big: toBigResult(result, JSON.stringify(result)) } : {};
  return { ms, outcome: { kind: 'done', result, ...big } };
}

/** It begins a task and a child; when both have ended, the job goes on as a new one, once. */
function decisions(job: LeafRevision, { path }: LiveStep): readonly object[] {
  const begun = [
    { schedule: 't0', id: 'a' },
    { start_child: 'c', id: 'b' },
  ];
  if (path.endsWith('.decision.0')) return begun;
  const decider = path.replace(/\.decision\.\d+$/, '');
  const isOver = (below: string): boolean => {
    const last = stepsIn(job).findLast((step) => step.path === `${decider}.${below}`);
    return last !== undefined && !isOpen(last) && last['due'] === undefined;
  };
  if (!isOver('activity.a') || !isOver('child.b')) return [];
  return [job['continued_from'] === undefined ? { continue_as_new: {} } : { complete: 1 }];
}
