import { lengthOf } from '../words.js';
import type { Entry, Structure } from '../model/tree.js';
import { kindOf } from '../structures/kinds.js';
import type { PictureKind } from './picture.js';

/** The two lines of a node. */
export type Words = { readonly label: string; readonly detail?: string };

/** The kind of an entry, by what it has. */
export function kindOfEntry({ wait, delay, flow, decider }: Entry): PictureKind {
  if (wait !== undefined) return 'wait';
  if (delay !== undefined) return 'delay';
  if (flow !== undefined) return 'flow';
  return decider === undefined ? 'task' : 'decider';
}

/** What an entry is called, and below it what it does where the name does not say it. */
export function entryWords(entry: Entry): Words {
  const { name, task, wait, delay, flow, decider } = entry;
  const notes = wait === undefined ? [] : waitNotes(wait);
  if (delay !== undefined) {
    notes.push(typeof delay === 'number' ? `waits ${lengthOf(delay)}` : `waits until ${delay}`);
  }
  if (flow !== undefined) notes.push(`runs flow ${flow}`);
  if (decider !== undefined) notes.push(`decider ${decider}`);
  if (notes.length === 0 && name !== undefined && name !== task) notes.push(task);
  return withNotes(name ?? task, [...notes, ...conditionsOf(entry)]);
}

function waitNotes({ signal, event, key, timeout }: NonNullable<Entry['wait']>): string[] {
  const notes: string[] = [];
  if (signal !== undefined) notes.push(`waits for signal ${signal}`);
  if (event !== undefined) {
    notes.push(`waits for event ${event}${key === undefined ? '' : ` ${key}`}`);
  }
  if (timeout) notes.push(`at most ${lengthOf(timeout)}`);
  return notes;
}

/** What a structure is called and how it goes about what is in it. */
export function structureWords(node: Structure): Words {
  const { label, notes } = kindOf(node).words(node);
  const all = [...notes, ...conditionsOf(node)];
  return node.name === undefined ? withNotes(label, all) : withNotes(node.name, [label, ...all]);
}

function conditionsOf({ when, guards, optional }: Pick<Entry, 'when' | 'guards' | 'optional'>) {
  const conditions = [when ?? [], guards ?? []].flat();
  return [
    ...(conditions.length === 0 ? [] : [`when ${conditions.join(' and ')}`]),
    ...(optional === true ? ['optional'] : []),
  ];
}

function withNotes(label: string, notes: readonly string[]): Words {
  return notes.length === 0 ? { label } : { label, detail: notes.join(', ') };
}
