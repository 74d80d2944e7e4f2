import type { Entry, Structure } from '../model/tree.js';
import { entryKindOf, kindOf } from '../structures/kinds.js';

/** The two lines of a node. */
export type Words = { readonly label: string; readonly detail?: string };

/** What an entry is called, and below it what it does where the name does not say it. */
export function entryWords(entry: Entry): Words {
  const { name, task } = entry;
  return withNotes(name ?? task, [...entryKindOf(entry).notes(entry), ...conditionsOf(entry)]);
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
