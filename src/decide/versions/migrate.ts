import { asVersion, versionName, type VersionAsk } from '../../model/flow-versions.js';
import { isFinal, isNew, type Job, type LiveJob, type NewJob } from '../../model/job.js';
import { without } from '../../model/record.js';
import { defaultOwner } from '../../model/task.js';
import { lookUp, type Query } from '../queries.js';
import { flowFailure } from '../start/flow-failure.js';
import { movement, type Movement } from './movement.js';
import type { Obstacle } from './obstacle.js';
import { takeOver, type DefinitionsKnown, type StoredFlow } from './take-over.js';

/**
 * What became of moving a job: `moves`: the job as it goes on; `there`: it goes by that definition already; `stays`:
 * it cannot move. `because` is a sentence with what to do about it.
 */
export type Migrated =
  | Query
  | { readonly kind: 'moves'; readonly job: Job; readonly moved: Movement }
  | { readonly kind: 'there' | 'stays'; readonly because: string };

/**
 * Moves a job that has not ended to another version of its flow; without `to` to the flow as it is stored now: the
 * version that the job asked for, else the current one. Engines, the command line and the API ask this one function.
 */
export function migrated(job: Job, to: string | undefined, known: DefinitionsKnown): Migrated {
  if (isFinal(job)) {
    const why = `Job ${job._id} has ended. "tws retry --latest" lets it go on by the flow as it is stored now.`;
    return stays(why);
  }
  return isNew(job) ? migrateNew(job, to, known) : migrateLive(job, to, known);
}

/** A job that has not begun takes the version when it begins. */
function migrateNew(job: NewJob, to: string | undefined, known: DefinitionsKnown): Migrated {
  const { _id: id, flow: name, owner = defaultOwner, tasks } = job;
  if (name === undefined || tasks !== undefined) return stays(noFlowText(id));
  if (to === undefined) {
    return there(
      `Job ${id} has not begun: it takes the flow as it is stored when it begins. Name a version.`,
    );
  }
  const before = asVersion(job.flow_version);
  if (before === to) return there(`Job ${id} begins by ${versionName(to)} already.`);
  const found = known.flow(name, owner, { version: to });
  if (found.kind === 'unknown') return lookUp({ flows: [{ name, owner }] });
  if (found.kind !== 'found')
    return stays(flowFailure(name, owner, found, { version: to }).message);
  return {
    kind: 'moves',
    job: { ...job, flow_version: to },
    moved: { from: before === undefined ? {} : { version: before }, to: { version: to } },
  };
}

function migrateLive(job: LiveJob, to: string | undefined, known: DefinitionsKnown): Migrated {
  const { _id: id, slice, parent } = job;
  const { name } = job.flow_definition;
  if (slice !== undefined) {
    return stays(
      `Job ${id} goes over items of a map of job ${String(parent?.job)}. Move that job when the map is done.`,
    );
  }
  if (name === '' || job.flow_rev === undefined) return stays(noFlowText(id));
  const owner = job.owner ?? defaultOwner;
  const pinned = job.flow_pinned === true ? asVersion(job.flow_version) : undefined;
  const ask: VersionAsk = { version: to ?? pinned };
  const found = known.flow(name, owner, ask);
  if (found.kind === 'unknown') return lookUp({ flows: [{ name, owner }] });
  if (found.kind !== 'found') return stays(flowFailure(name, owner, found, ask).message);
  const flow = found.value;
  if (flow.enabled === false) {
    return stays(
      `Job ${id} stays where it is: ${calledFlow(flow)} is disabled. Enable it, or name another version.`,
    );
  }
  return moveTo(job, { flow, isAsked: to !== undefined }, known);
}

type Target = { readonly flow: StoredFlow; readonly isAsked: boolean };

function moveTo(job: LiveJob, { flow, isAsked }: Target, known: DefinitionsKnown): Migrated {
  const taken = takeOver(job, flow, known);
  switch (taken.kind) {
    case 'look_up':
      return taken;
    case 'wrong':
      return stays(`Job ${job._id} stays where it is: ${taken.failure.message}`);
    case 'held':
      return stays(heldText(job, flow, taken.obstacle));
    case 'taken': {
      if (isSameDefinition(job, taken.job)) {
        return there(`Job ${job._id} goes by ${calledFlow(flow)} as it is stored now already.`);
      }
      const next = without(taken.job, 'next_due');
      return {
        kind: 'moves',
        job: isAsked ? { ...next, flow_pinned: true } : next,
        moved: movement(job, next),
      };
    }
  }
}

/** The same revisions of the flow and of all its tasks. */
function isSameDefinition(before: LiveJob, after: LiveJob): boolean {
  if (before.flow_rev !== after.flow_rev) return false;
  const revs = [before, after].map(({ definitions }) =>
    Object.keys(after.definitions).map((name) => definitions[name]?._rev),
  );
  return JSON.stringify(revs[0]) === JSON.stringify(revs[1]);
}

const noFlowText = (id: string): string =>
  `Job ${id} has tasks of its own and goes by no stored flow. Submit a new job for the flow instead.`;

function calledFlow({ name, version }: StoredFlow): string {
  const word = version === undefined ? '' : ` ${versionName(version)}`;
  return `flow "${name}"${word}`;
}

/** Why a job cannot move, and what to do. */
function heldText({ _id: id }: LiveJob, flow: StoredFlow, obstacle: Obstacle): string {
  const { path, hold, was, now } = obstacle;
  const place = path === '' ? 'the root of its tasks' : `step ${path}`;
  const there = `${calledFlow(flow)} has ${now === 'gone' ? 'nothing' : now} there`;
  const stay = `Job ${id} stays where it is`;
  switch (hold) {
    case 'sliced':
      return `${stay}: child jobs go over the map at ${place} and have copies of its definition. Move the job when the map is done.`;
    case 'begun for a failure':
      return `${stay}: ${place} was begun for a failure, and ${calledFlow(flow)} has other "errors" in that catch. Keep them as they are up to that branch, or let the job end.`;
    case 'begun too early':
      return `${stay}: ${place} (${was}) has begun, and by ${calledFlow(flow)} something else comes before it that is not done. Add steps behind what has begun, or let the job end.`;
    case 'done':
    case 'left out':
    case 'running':
    case 'waiting':
    case 'to be tried again':
    case 'chosen':
      return `${stay}: ${place} (${was}) is ${hold}, and ${there}. Keep ${was} at that place in the flow, or let the job end.`;
  }
}

function stays(because: string): Migrated {
  return { kind: 'stays', because };
}

function there(because: string): Migrated {
  return { kind: 'there', because };
}
