import { lengthOf } from '../words.js';
import type { Entry, GraphJoin, Structure } from '../model/tree.js';
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
  const notes: string[] = [];
  if (wait?.signal !== undefined) notes.push(`waits for signal ${wait.signal}`);
  if (wait?.event !== undefined) {
    const key = wait.key === undefined ? '' : ` ${wait.key}`;
    notes.push(`waits for event ${wait.event}${key}`);
  }
  if (wait?.timeout) notes.push(`at most ${lengthOf(wait.timeout)}`);
  if (delay !== undefined) {
    notes.push(typeof delay === 'number' ? `waits ${lengthOf(delay)}` : `waits until ${delay}`);
  }
  if (flow !== undefined) notes.push(`runs flow ${flow}`);
  if (decider !== undefined) notes.push(`decider ${decider}`);
  if (notes.length === 0 && name !== undefined && name !== task) notes.push(task);
  return withNotes(name ?? task, [...notes, ...conditionsOf(entry)]);
}

/** What a structure is called and how it goes about what is in it. */
export function structureWords(node: Structure): Words {
  const { label, notes } = ofKind(node);
  const all = [...notes, ...conditionsOf(node)];
  return node.name === undefined ? withNotes(label, all) : withNotes(node.name, [label, ...all]);
}

function ofKind(node: Structure): { readonly label: string; readonly notes: readonly string[] } {
  switch (node.structure) {
    case 'sequence':
      return {
        label: 'sequence',
        notes: node.sequence.length === 0 ? ['nothing in it'] : [],
      };
    case 'parallel': {
      const total = node.parallel.length;
      const { join = 'all' } = node;
      const needed =
        join === 'all' ? [] : [join === 'any' ? `any of ${total}` : `${join} of ${total}`];
      const rest = node.cancel_rest === true ? ['cancels the rest'] : [];
      return { label: 'parallel', notes: [...needed, ...rest, ...failWords(node.on_fail)] };
    }
    case 'batch':
      return { label: 'batch', notes: failWords(node.on_fail) };
    case 'graph':
      return { label: 'graph', notes: failWords(node.on_fail) };
    case 'choice':
      return { label: 'choice', notes: [] };
    case 'map': {
      const { over, as, limit = 0, tolerate, on_fail: onFail, slice } = node.map;
      const list = typeof over === 'string' ? over : `${over.length} items`;
      const notes = [
        ...(as === undefined ? [] : [`as ${as}`]),
        ...(limit > 0 ? [`${limit} at a time`] : []),
        ...(slice === undefined ? [] : [`slices of ${slice}`]),
        ...(tolerate === undefined ? [] : [`${tolerate} may fail`]),
      ];
      return { label: `for each of ${list}`, notes: [...notes, ...failWords(onFail)] };
    }
    case 'loop': {
      const { while: condition, max } = node.loop;
      const label = condition === undefined ? 'repeat' : `while ${condition}`;
      return { label, notes: [`at most ${max} times`] };
    }
  }
}

function failWords(onFail: 'wait' | 'cancel_rest' | 'ignore' | undefined): readonly string[] {
  switch (onFail) {
    case 'cancel_rest':
      return ['a failure cancels the rest'];
    case 'ignore':
      return ['failures are ignored'];
    case 'wait':
    case undefined:
      return [];
  }
}

/** When a node of a graph begins, where that is not when all before it have succeeded. */
export function joinWords(join: GraphJoin | undefined, total: number): string | undefined {
  switch (join) {
    case undefined:
    case 'all':
      return undefined;
    case 'any':
      return total > 1 ? `any of ${total}` : undefined;
    case 'done':
      return 'however it ends';
    case 'none_failed':
      return 'unless it fails';
    default:
      return `${join} of ${total}`;
  }
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
