import { nameOf } from '../model/scalars.js';
import type { EntryKind } from './entry-kind.js';

/** A step that runs a task document. */
export const task: EntryKind = {
  shape: { task: nameOf('task').describe('Name of the task document.') },
  calledBy: 'value',
  notes: ({ name, task: called }) => (name === undefined || name === called ? [] : [called]),
};
