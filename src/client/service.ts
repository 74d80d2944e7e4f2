import { partyOf, definitionOf, queueOf, queueOfDocument } from '../reading/entries.js';
import { allDisabled } from '../model/engine-control.js';
import type { EngineDocument } from '../model/engine.js';
import { defaultQueue, isLiveJob, type Job, type LiveJob } from '../model/job.js';
import { pluginOf } from '../model/task.js';
import { interpret } from '../reading/progress.js';
import { readSteps } from '../reading/step-reading.js';
import type { StoredDocument } from '../model/document.js';
import type { Reason, Seen } from './reason.js';
import { asSentence } from '../words.js';
import type { SeenEngine } from './pulse.js';

/** Why nobody at all takes work; undefined when somebody does. */
export function noEngine({ engines, engineControl }: Seen): Reason | undefined {
  // In a restored database the documents of engines are copies: whether one is alive says nothing.
  if (engineControl?.['enabled'] === false) {
    return { kind: 'no_engine', ...allDisabled(engineControl) };
  }
  if (engines.some(({ alive, engine }) => alive && engine.state === 'running')) return undefined;
  const disabled = engines.filter(({ alive, engine }) => alive && engine.state === 'disabled');
  if (disabled.length > 0) {
    const ids = disabled.map(({ engine }) => engine._id).join(', ');
    const because = `All engines that are alive are disabled (${ids}).`;
    const todo =
      "Let all take work with `tws enable '*'`, or one that was disabled by itself with `tws enable ENGINE`.";
    return { kind: 'no_engine', because, todo };
  }
  const todo = 'Start one with `tws start`, or `tws dev`; the job goes on then.';
  const silent = engines.filter(({ engine }) => engine.state !== 'stopped').length;
  const because =
    silent === 0
      ? 'No engine is alive.'
      : `No engine is alive: ${silent === 1 ? 'the only one gives' : `all ${silent} give`} no sign of life.`;
  return { kind: 'no_engine', because, todo };
}

/** A step that may begin next, and what it needs of an engine. */
type ToCome = {
  readonly name: string;
  readonly plugin: string;
  readonly labels: readonly string[];
};

/** Nobody can take the next step, or all engines that could are busy. */
export function serviceReason(seen: Seen, job: Job): Reason | undefined {
  if (!isLiveJob(job)) return busyReason(seen, [], 'It has not begun');
  const steps = stepsToCome(job, seen.now);
  if (steps.length === 0) return undefined;
  const queue = queueOf(job);
  const unserved = steps
    .map((step) => lack(step, queue, seen))
    .filter((found) => found !== undefined);
  if (unserved.length === steps.length) return unserved[0];
  return busyReason(seen, steps, `Step "${steps[0]?.name ?? ''}" waits`);
}

/** The steps that may begin now and need an engine, as the rules read them from the job. */
function stepsToCome(job: LiveJob, now: number): readonly ToCome[] {
  const { begin } = interpret(job, job.tasks, 'main');
  return begin.flatMap(({ leaf, due = 0 }) => {
    const task = due > now ? undefined : definitionOf(job, leaf.entry);
    if (task === undefined || task.flow !== undefined) return [];
    return [{ name: leaf.name, plugin: pluginOf(task), labels: task.labels ?? [] }];
  });
}

/** All engines that could go on with a job are busy. */
function busyReason(seen: Seen, steps: readonly ToCome[], what: string): Reason | undefined {
  const { inHand, ownInHand = 0 } = seen;
  if (inHand === undefined) return undefined;
  const able = ableEngines(steps, seen);
  const isFull = ({ engine }: SeenEngine): boolean => (inHand.get(engine._id) ?? 0) >= engine.slots;
  if (able.length === 0 || !able.every(isFull)) return undefined;
  const slots = able.reduce((sum, { engine }) => sum + engine.slots, 0);
  const all = slots === 1 ? 'the only slot is busy' : `all ${slots} slots are busy`;
  const share =
    ownInHand === 0
      ? ''
      : ` (${ownInHand} by this job and those made with it: that is its share while others wait)`;
  const because = `${what}: ${all}${share}; it goes on when a running step has ended.`;
  return { kind: 'busy', because, todo: 'Start more engines, or give them more --slots.' };
}

/** Why no living engine can take a step; undefined when one can. */
function lack(
  { name, plugin, labels }: ToCome,
  queue: string,
  { engines }: Seen,
): Reason | undefined {
  const alive = engines.filter((one) => one.alive && one.engine.state === 'running');
  const withPlugin = alive.filter(({ engine }) => engine.plugins.includes(plugin));
  const broken = alive.find(({ engine }) => engine.broken?.[plugin] !== undefined);
  if (withPlugin.length === 0 && broken !== undefined) {
    const { _id: id, broken: reasons = {} } = broken.engine;
    const because = `${asSentence(String(reasons[plugin]))} Step "${name}" needs it, and ${id} is the engine that has it.`;
    const todo =
      'Correct its file and start that engine again; `tws dev` loads it again by itself. Else the job times out.';
    return { kind: 'unserved', because, todo };
  }
  if (withPlugin.length === 0) {
    const because = `No engine has plugin "${plugin}", which step "${name}" needs.`;
    const todo =
      'Put it into the plugins folder of an engine, if it is not there, and start that engine again: plugins are loaded at the start. Else the job times out.';
    return { kind: 'unserved', because, todo };
  }
  const able = withPlugin.filter(({ engine }) => carries(engine.labels, labels));
  if (able.some(({ engine }) => servesQueue(engine, queue))) return undefined;
  if (able.length > 0) {
    const because = `No engine that could take step "${name}" serves the queue "${queue}" of the job.`;
    const todo = `Start one with \`tws start --queues ${queue}\`; else the job times out.`;
    return { kind: 'unserved', because, todo };
  }
  const because = `No engine with plugin "${plugin}" carries the ${labels.length === 1 ? 'label' : 'labels'} ${labels.join(', ')} of step "${name}".`;
  const todo = `Start one with \`tws start --labels ${labels.join(',')}\`; else the job times out.`;
  return { kind: 'unserved', because, todo };
}

/** The living engines that can take one of these steps; without steps, those that serve the job. */
function ableEngines(
  steps: readonly ToCome[],
  { engines, job, flow }: Seen,
): readonly SeenEngine[] {
  const queue = queueOfDocument(job, flow);
  return engines.filter(
    ({ alive, engine }) =>
      alive &&
      engine.state === 'running' &&
      servesQueue(engine, queue) &&
      (steps.length === 0 ||
        steps.some(
          ({ plugin, labels }) => engine.plugins.includes(plugin) && carries(engine.labels, labels),
        )),
  );
}

const servesQueue = ({ queues = [defaultQueue] }: EngineDocument, queue: string): boolean =>
  queues.includes(queue);

const carries = (has: readonly string[], wants: readonly string[]): boolean =>
  wants.every((label) => has.includes(label));

/** The steps in hand of a job and of those that were made for the same root, which share their slots. */
export function countOwn(jobs: readonly StoredDocument[], job: StoredDocument): number {
  const { root } = partyOf(job);
  const family = jobs.filter((one) => partyOf(one).root === root);
  return [...countInHand(family).values()].reduce((sum, count) => sum + count, 0);
}

/** The steps in hand of each engine, counted in the jobs that have not ended. */
export function countInHand(jobs: readonly StoredDocument[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { engine, state } of jobs.flatMap(readSteps)) {
    if (engine === undefined || (state !== '$$ready' && state !== '$$active')) continue;
    counts.set(engine, (counts.get(engine) ?? 0) + 1);
  }
  return counts;
}
