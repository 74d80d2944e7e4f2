import { nameOf } from '../model/scalars.js';
import type { EntryKind } from './entry-kind.js';

/** A plugin that is asked what to do next until it says that it is done. */
export const decider: EntryKind = {
  shape: {
    decider: nameOf('plugin').describe('Plugin that reads the history and answers with decisions.'),
  },
  calledBy: 'value',
  notes: ({ decider: plugin }) => [`decider ${String(plugin)}`],
  task: ({ task: called, decider: plugin }) => ({
    type: 'task',
    name: called,
    plugin: String(plugin),
  }),
  // It is asked about all that happens in the job, and what it began may go on without it.
  needsWholeJob: () => true,
  leavesWork: true,
};
