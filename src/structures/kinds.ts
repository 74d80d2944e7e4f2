import { isObject } from '../model/object.js';
import { isStructure, type Entry, type Node, type Structure } from '../model/tree.js';
import { approve } from './approve.js';
import { batch } from './batch.js';
import { caught } from './catch.js';
import { choice } from './choice.js';
import { decider } from './decider.js';
import { delay } from './delay.js';
import type { EntryKind } from './entry-kind.js';
import { finishing } from './finish.js';
import { flow } from './flow.js';
import { graph } from './graph.js';
import type { Kind } from './kind.js';
import { loop } from './loop.js';
import { map } from './map.js';
import { parallel } from './parallel.js';
import { sequence } from './sequence.js';
import { task } from './task.js';
import { wait } from './wait.js';

/** All kinds of structures, by their word: to add one, add its file and a line here. */
export const structureKinds: Readonly<Record<string, Kind>> = toKinds({
  sequence,
  parallel,
  batch,
  graph,
  choice,
  map,
  loop,
  catch: caught,
});

/** Each kind is only ever asked about its own structures. */
function toKinds(kinds: Readonly<Record<string, unknown>>) {
  return kinds as Readonly<Record<string, Kind>>;
}

/** All kinds of entries, by their word: to add one, add its file and a line here, and have `begin` begin it. */
export const entryKinds = { task, wait, approve, delay, flow, decider, finish: finishing } as const;
export type EntryWord = keyof typeof entryKinds;
export const entryKeys = Object.keys(entryKinds) as readonly EntryWord[];

/** The keys of which each node has one: it tells what kind of node it is. */
export const nodeKinds: readonly string[] = [...entryKeys, ...Object.keys(structureKinds)];

/** Returns the kind of a structure. */
export function kindOf({ structure }: Structure): Kind {
  return structureKinds[structure] as Kind;
}

/** The word of an entry's kind: its key, beside which `task` only says what people call it. */
export function wordOf(entry: Entry): EntryWord {
  return entryKeys.find((word) => word !== 'task' && entry[word] !== undefined) ?? 'task';
}

/** Returns the kind of an entry. */
export function entryKindOf(entry: Entry): EntryKind {
  return entryKinds[wordOf(entry)];
}

/** The texts of an entry of its own that may hold templates, by the way to each (`wait.key`). */
export function textsOf(entry: Entry): Readonly<Record<string, unknown>> {
  const ways = entryKindOf(entry).texts ?? [];
  const found = ways.map((way) => [way, valueAt(entry, way.split('.'))] as const);
  return Object.fromEntries(found.filter(([, text]) => text !== undefined));
}

function valueAt(value: unknown, [key, ...more]: readonly string[]): unknown {
  if (key === undefined) return value;
  return isObject(value) ? valueAt(value[key], more) : undefined;
}

const textWays = Object.values<EntryKind>(entryKinds).flatMap(({ texts = [] }) => texts);

/** Whether keys lead to a text of an entry that may hold templates, or into one. */
export function leadsToText(keys: readonly string[]): boolean {
  const way = `.${keys.join('.')}.`;
  return textWays.some((one) => way.includes(`.${one}.`));
}

/** Whether something in a node may continue, or is to be cancelled, when the node is done. */
export function leavesWork(node: Node): boolean {
  if (!isStructure(node)) return entryKindOf(node).leavesWork === true;
  const { isConcurrent, children } = kindOf(node);
  return isConcurrent || children(node, '').some((child) => leavesWork(child.node));
}
