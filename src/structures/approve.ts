import { lengthOf } from '../words.js';
import type { EntryKind } from './entry-kind.js';
import { approvalSchema, peopleNotes, waysToAsked } from './people.js';

/** Waits until a person approves or refuses: a wait with a form of its own. */
export const approve: EntryKind = {
  shape: { approve: approvalSchema.describe('Waits until a person approves or refuses.') },
  calledBy: 'word',
  isWait: true,
  notes: ({ approve: { title, timeout, ...asked } = {} }) => [
    title === undefined ? 'waits for an approval' : `waits for an approval: ${title}`,
    ...peopleNotes(asked),
    ...(timeout ? [`at most ${lengthOf(timeout)}`] : []),
  ],
  texts: waysToAsked('approve'),
  // The answer goes to the job that has the step.
  needsWholeJob: () => true,
};
