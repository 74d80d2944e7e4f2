import type { CheckedSubject, Schema, Unanswered } from '../decide/world.js';
import type { Problem } from '../model/problems.js';
import { calculate, NoThreadError } from '../plugin/calculations.js';
import { canonical } from '../model/canonical.js';
import { countValues } from '../model/size.js';
import { cheapValues, mayTakeLong } from '../plugin/schema-cost.js';
import { longestSchema, readSchema } from './schemas.js';

type Json = Readonly<Record<string, unknown>>;
type Checked = { readonly ok: true; readonly problems: readonly Problem[] } | Unanswered;

/** The schemas that one decision reads. */
export type SchemaChecks = {
  /**
   * A schema of a definition. One that may take long is checked in a thread: until `settle` has
   * answered it says that everything suits, and what was decided by that does not count.
   */
  readonly read: (schema: Json) => Schema;
  /** Whether checks were asked for that are not made yet. */
  readonly isOpen: () => boolean;
  /** Makes the checks that were asked for. Rejects with a `NoThreadError` when no thread can be started. */
  readonly settle: () => Promise<void>;
};

/** `check`: makes one check away from here. */
export function createSchemaChecks(check = checkAway): SchemaChecks {
  const known = new Map<string, Checked>();
  const asked = new Map<string, Asked>();
  const look = (question: Asked): Checked | undefined => {
    const key = canonical(question);
    const found = known.get(key);
    if (found === undefined) asked.set(key, question);
    return found;
  };
  return {
    read: (schema) => {
      const here = isCheapSchema(schema) ? readSchema(schema) : undefined;
      if (here?.ok === false) return here;
      // Whether it is a schema at all is found out with no parameters.
      const read = here ?? look({ schema, value: null, of: 'params' });
      if (read?.ok === false) return read;
      return {
        ok: true,
        problemsOf: (value, of = 'params') => {
          if (here !== undefined && countValues(value, cheapValues) <= cheapValues) {
            return here.problemsOf(value, of);
          }
          const checked = look({ schema, value, of });
          if (checked === undefined) return [];
          return checked.ok ? checked.problems : [unchecked(checked.reason, of)];
        },
      };
    },
    isOpen: () => asked.size > 0,
    settle: async () => {
      const open = [...asked];
      asked.clear();
      for (const [key, question] of open) known.set(key, await check(question));
    },
  };
}

type Asked = { readonly schema: Json; readonly value: unknown; readonly of: CheckedSubject };

async function checkAway(question: Asked): Promise<Checked> {
  try {
    return (await calculate({ kind: 'schema', ...question }, 1)) as Checked;
  } catch (error) {
    if (error instanceof NoThreadError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, reason };
  }
}

function unchecked(reason: string, of: CheckedSubject): Problem {
  return { path: of, message: `${of} cannot be checked: ${reason}.` };
}

/** So long is a schema that is compiled in no time, in characters. */
const cheapSchema = 2_000;

/**
 * Whether a schema is compiled and checked in a time that hardly matters: it is short, and neither
 * refers to itself nor has patterns. One that is too long is refused at once.
 */
function isCheapSchema(schema: Json): boolean {
  const text = JSON.stringify(schema);
  if (text.length > longestSchema) return true;
  return text.length <= cheapSchema && !mayTakeLong(text);
}
