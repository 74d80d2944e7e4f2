import { z } from 'zod';
import type { EntryKind } from './entry-kind.js';

const finishText = 'must be true or {result, exit}';
const exitText = 'must be an exit code (a whole number, 0 to 255)';

const finishSchema = z.union(
  [
    z.literal(true, { error: finishText }),
    z.looseObject(
      {
        result: z.exactOptional(
          z.unknown().describe('Result of the job; templates are filled in.'),
        ),
        exit: z.exactOptional(
          z
            .int({ error: exitText })
            .min(0, { error: exitText })
            .max(255, { error: exitText })
            .describe('Exit of the job; 0 unless given.'),
        ),
      },
      { error: finishText },
    ),
  ],
  { error: finishText },
);

/** Ends the flow early: what still runs is cancelled, and nothing else begins. */
export const finishing: EntryKind = {
  shape: { finish: finishSchema.describe('Ends the flow early, with a result.') },
  calledBy: 'word',
  isWait: true,
  notes: ({ finish: told }) => [
    typeof told === 'object' && told.exit !== undefined && told.exit !== 0
      ? `ends the flow with exit ${told.exit}`
      : 'ends the flow',
  ],
  texts: ['finish.result'],
  // It ends the job that has the step.
  needsWholeJob: () => true,
};
