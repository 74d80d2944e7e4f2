import { nameOf } from '../model/scalars.js';
import type { EntryKind } from './entry-kind.js';

/** A flow that runs as a job of its own. */
export const flow: EntryKind = {
  shape: {
    flow: nameOf('flow').describe('Flow that runs as a job of its own; this one waits for it.'),
  },
  calledBy: 'value',
  notes: ({ flow: named }) => [`runs flow ${String(named)}`],
  task: ({ task: called, flow: named }) => ({ type: 'task', name: called, flow: String(named) }),
};
