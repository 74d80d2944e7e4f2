import { isSlice, type LiveJob, type SliceJob } from '../../model/job.js';
import { isFailed } from '../../model/step.js';
import { below, isStructure, isWithin, type Leaf, type Structure } from '../../model/tree.js';
import { jobSteps, lastAttempt } from '../../reading/attempts.js';
import { leavesIn, nodeAt } from '../../reading/entries.js';
import { kindOf } from '../../structures/kinds.js';
import { markAt } from '../../structures/marks.js';
import {
  definedPath,
  placeWord,
  repetitionsAround,
  wholeFlow,
  type Repetition,
} from '../../structures/paths.js';
import { structuresIn } from '../../structures/tree.js';
import { stepWords } from './retry-params.js';

/**
 * Returns the path of the step or the structure that a word means; undefined: of none, or of several. The
 * whole flow is at the path `''`, and is called by a word of its own.
 */
export function placeNamed(job: LiveJob, word: string): string | undefined {
  const leaf = leafNamed(job, word);
  if (leaf !== undefined) return leaf.path;
  if (hasStructureAt(job, word)) return word;
  const named = structuresIn(job.tasks).filter(({ node }) => node.name === word);
  if (named.length === 0) return word === wholeFlow ? '' : undefined;
  return named.length === 1 ? named[0]?.path : undefined;
}

/** Says that a word means no place of the job, and which words do. */
export function unknownPlace(job: LiveJob, word: string): string {
  return `Job ${job._id} has no step "${word}"; its steps are ${stepWords(job)}${structureWords(job)}; "${wholeFlow}" is the whole flow.`;
}

/**
 * Returns why the job has nothing to do again at a path, although its flow has a node there: the item of the
 * map is in a child job, there is no item or round of that number, or the job is a slice and the node is beside
 * its map. Undefined: it has.
 */
export function notInJob(job: LiveJob, path: string): string | undefined {
  if (isSlice(job) && !hasPlace(job, path)) return besideSlice(job, path);
  for (const repetition of repetitionsAround(path)) {
    const because = repetitionAway(job, repetition, path);
    if (because !== undefined) return because;
  }
  return undefined;
}

/** Whether a path is in the map of a slice, or that is in the path. */
function hasPlace({ slice }: SliceJob, path: string): boolean {
  const [place, map] = [definedPath(path), definedPath(slice.path)];
  return isWithin(place, map) || isWithin(map, place);
}

function besideSlice({ _id: id, slice, tasks }: SliceJob, path: string): string {
  const map = nodeAt(tasks, slice.path) as Structure;
  return `Job ${id} does only items of the ${called(map, slice.path)}: retry its parent job from "${path}".`;
}

function repetitionAway(job: LiveJob, one: Repetition, path: string): string | undefined {
  const node = nodeAt(job.tasks, one.path) as Structure;
  const steps = jobSteps(job);
  if (kindOf(node).repeats?.isThere(one.path, one.number, steps) === true) return undefined;
  const { slice } = markAt(steps, one.path) ?? {};
  const child = slice === undefined ? undefined : childOf(job, one, slice);
  const each = node.structure === 'loop' ? 'round' : 'item';
  const what = `${each} ${one.number} of the ${called(node, one.path)}`;
  if (child === undefined) {
    return `Job ${job._id} has no ${what}; say "from" ${wordFor(node, one.path)} to begin all of it anew.`;
  }
  const { id, hasFailed } = child;
  const todo = hasFailed
    ? `retry that job from "${path}", and then job ${job._id}, which takes over its result`
    : `it ended well, so job ${job._id} would not take over another result; say "from" ${wordFor(node, one.path)} to do all items again`;
  return `Job ${job._id} has ${what} in its child job ${id}: ${todo}.`;
}

/** The child job that has an item of a sliced map, and whether something failed in it; undefined: none was begun. */
function childOf(
  job: LiveJob,
  { path, number }: Repetition,
  slice: number,
): { readonly id: string; readonly hasFailed: boolean } | undefined {
  const last = lastAttempt(job, below(path, `slice.${Math.floor(number / slice)}`));
  if (last === undefined || !('child' in last)) return undefined;
  return { id: String(last.child), hasFailed: isFailed(last) || 'failed' in last };
}

/** `map "prices"`, or `map at 2`. */
function called({ structure, name }: Structure, path: string): string {
  if (name !== undefined) return `${structure} "${name}"`;
  return path === '' ? structure : `${structure} at ${path}`;
}

function wordFor({ name }: Structure, path: string): string {
  return `"${name ?? placeWord(path)}"`;
}

/** Lists the structures with names, by which a retry may begin. */
function structureWords({ tasks }: LiveJob): string {
  const names = structuresIn(tasks).flatMap(({ node: { name } }) => name ?? []);
  return names.length === 0 ? '' : `, its structures ${names.slice(0, mostNames).join(', ')}`;
}

const mostNames = 30;

function hasStructureAt({ tasks }: LiveJob, path: string): boolean {
  const node = path === '' ? undefined : nodeAt(tasks, path);
  return node !== undefined && isStructure(node);
}

/** Finds a step by path, `<task>-<n>` or name; by task when only one step has it. */
export function leafNamed(job: LiveJob, word: string): Leaf | undefined {
  const { list, at } = leavesIn(job.tasks);
  const byPath = at(word);
  if (byPath !== undefined) return byPath;
  const byLabel = list.find(({ label }) => label === word);
  if (byLabel !== undefined) return byLabel;
  const named = list.filter(({ name }) => name === word);
  const found = named.length > 0 ? named : list.filter(({ entry }) => entry.task === word);
  return found.length === 1 ? found[0] : undefined;
}
