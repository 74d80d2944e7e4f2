import { z } from 'zod';
import { flagSchema, textSchema } from './scalars.js';

/** Names every engine in a control. */
export const everyEngine = '*';

const engineText = 'must be the id of an engine ("engine:…"), or "*" for all';

/**
 * What somebody wants of an engine, as a document that stays: while `enabled` is false it takes no new
 * work, also after a new start; what it has begun goes on.
 */
export const engineControlSchema = z
  .looseObject({
    type: z.literal('engine-control'),
    engine: z
      .string({ error: engineText })
      .regex(/^(?:\*|engine:.+)$/, { error: engineText })
      .describe('Id of the engine, or "*" for all.'),
    enabled: flagSchema.describe('false: it takes no new work.'),
    reason: z.exactOptional(textSchema.describe('Why, for people.')),
  })
  .describe('Enables or disables an engine.');

export type EngineControl = z.infer<typeof engineControlSchema>;

/** Says of the control of all engines that none works, and what to do: somebody said so, it moves, or it was restored. */
export function allDisabled(control: Readonly<Record<string, unknown>>): {
  readonly because: string;
  readonly todo: string;
} {
  const { reason, restored, moving } = control;
  const why = typeof reason === 'string' ? ` ${reason}` : '';
  const because = `All engines are disabled: none begins a step in this database.${why}`;
  if (moving !== undefined) {
    return { because, todo: 'Repeat `tws move`, or undo it with `tws move --undo`.' };
  }
  const when = restored === undefined ? '' : ' once nothing works on the original any more';
  return { because, todo: `Let them work with \`tws enable '*'\`${when}.` };
}

/** The telling id of the control that commands write: `engine:a` -> `engine-control:a`. */
export function engineControlId(engine: string): string {
  return `engine-control:${engine.replace(/^engine:/, '')}`;
}
