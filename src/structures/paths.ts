import { isWithin } from '../model/tree.js';
import { structureKinds } from './kinds.js';

/* What can be told from the path of a node, or of something that a decider began. */

const words = Object.keys(structureKinds);
const repeating = words.filter((word) => structureKinds[word]?.repeats !== undefined);

/**
 * Returns the path in the definition for a path in a job: `2.map.17.sequence.1` ->
 * `2.map.*.sequence.1`.
 */
export function definedPath(path: string): string {
  return repeating.some((word) => path.includes(word)) ? path.replace(numbers, '$1$2.*') : path;
}
const numbers = new RegExp(`(^|\\.)(${repeating.join('|')})\\.(?:0|[1-9]\\d*)(?=\\.|$)`, 'g');

/** How a request names the root of a flow, whose path is empty. */
export const wholeFlow = '.';

/** The word by which a request names the node at a path. */
export function placeWord(path: string): string {
  return path === '' ? wholeFlow : path;
}

/** Whether a path is that of an undo task, or of something that handles its failure. */
export function isUndoing(path: string): boolean {
  return /\.undo(\.|$)/.test(path);
}

/** Whether a path belongs to what a flow does after it failed or was cancelled. */
export function isOfEnd(path: string): boolean {
  return isWithin(path, 'error') || isWithin(path, 'cancel') || isUndoing(path);
}

/** An item of a map or a round of a loop: `2.map.17` is number 17 of the map at `2`. */
export type Repetition = {
  /** Path of the map or loop. */
  readonly path: string;
  readonly number: number;
  /** Path of the item or round. */
  readonly item: string;
};

/** Returns the items of maps and the rounds of loops that contain a path, outermost first. */
export function repetitionsAround(path: string): readonly Repetition[] {
  return [...path.matchAll(numbers)].map(({ index, 0: words }) => ({
    path: path.slice(0, index),
    number: Number(words.slice(words.lastIndexOf('.') + 1)),
    item: path.slice(0, index + words.length),
  }));
}

/** Returns the path of the innermost item or round that contains a path; undefined: none does. */
export function itemAround(path: string): string | undefined {
  return repetitionsAround(path).at(-1)?.item;
}

/** Returns the paths of the batches of which a path is in a job, outermost first. */
export function batchesAround(path: string): readonly string[] {
  return [...path.matchAll(/(?:^|\.)batch\.\d+(?=\.|$)/g)].map(({ index }) => path.slice(0, index));
}

/** Words in paths that the name or the number of a child follows. */
const naming: ReadonlySet<string> = new Set([
  ...[...words, 'slice'],
  ...['decision', 'activity', 'timer', 'child', 'news'],
]);

/**
 * The parts of a path: `0.graph.on_failure.on_success` -> `0`, `graph.on_failure`, `on_success`.
 * Nodes of graphs and what deciders begin may be named like any word of the engine but `error` and
 * `undo`; only as a part of its own is it that word.
 */
export function pathParts(path: string): readonly string[] {
  const words = path.split('.');
  const parts: string[] = [];
  for (let i = 0; i < words.length; i += 1) {
    const word = String(words[i]);
    if (naming.has(word) && i + 1 < words.length) parts.push(`${word}.${String(words[(i += 1)])}`);
    else parts.push(word);
  }
  return parts;
}

/** Returns the path of the innermost batch whose callback contains a path; undefined: none. */
export function batchCalling(path: string): string | undefined {
  const parts = pathParts(path);
  const at = parts.findLastIndex((part) => /^on_(?:success|failure|complete)$/.test(part));
  return at < 0 ? undefined : parts.slice(0, at).join('.');
}

/** Returns the path of the innermost catch that has a path in one of its branches; undefined: none. */
export function catchAround(path: string): string | undefined {
  if (!path.includes('catch.')) return undefined;
  const parts = pathParts(path);
  const at = parts.findLastIndex((part) => part.startsWith('catch.'));
  return at < 0 ? undefined : parts.slice(0, at).join('.');
}

/** Whether a path may be that of something that a catch tries, or below it. */
export function isBelowTry(path: string): boolean {
  return /(?:^|\.)try(?:\.|$)/.test(path);
}

/** Whether a path is that of what a catch tries. */
export function isTried(path: string): boolean {
  return isBelowTry(path) && pathParts(path).at(-1) === 'try';
}

/**
 * Returns the path of the decider that began what is at a path, or that continues there; else
 * undefined.
 */
export function deciderOf(path: string): string | undefined {
  if (!/(?:activity|timer|child|news|continue)/.test(path)) return undefined;
  const parts = pathParts(path);
  const isBegun = /^(?:(?:activity|timer|child|news)\..+|continue)$/.test(String(parts.at(-1)));
  return isBegun ? parts.slice(0, -1).join('.') : undefined;
}

/** Whether a decider began the step, or continues by it; false for the decisions themselves. */
export function isOfDecider(path: string): boolean {
  return deciderOf(path) !== undefined;
}

/** Whether a step is the answer of a decider. */
export function isDecision(path: string): boolean {
  return decisionMaker(path) !== path;
}

/** Returns the path of the decider that made a decision; returns any other path unchanged. */
export function decisionMaker(path: string): string {
  return path.replace(/\.decision\.\d+$/, '');
}

/** Returns the path of the map that a slice belongs to; returns any other path unchanged. */
export function slicedMap(path: string): string {
  return path.replace(/(?:^|\.)slice\.\d+$/, '');
}
