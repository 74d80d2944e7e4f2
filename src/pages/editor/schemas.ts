import { useEffect, useState } from 'preact/hooks';
import type { EditedKind } from './own-check.js';
import type { JsonSchema } from '../../model/scalars.js';

/** The JSON Schemas that the build writes: big, and needed by whoever edits only. */
const loads: Readonly<Record<EditedKind, () => Promise<{ readonly default: unknown }>>> = {
  flow: () => import('../../../couch/schemas/flow.json'),
  task: () => import('../../../couch/schemas/task.json'),
  schedule: () => import('../../../couch/schemas/schedule.json'),
  hook: () => import('../../../couch/schemas/hook.json'),
  notify: () => import('../../../couch/schemas/notify.json'),
  job: () => import('../../../couch/schemas/job.json'),
};

/** The JSON Schema of a kind of document; undefined while it is on its way. */
export function useSchema(kind: EditedKind): JsonSchema | undefined {
  const [schema, setSchema] = useState<JsonSchema>();
  useEffect(() => {
    let isWanted = true;
    void loads[kind]().then(
      (module) => {
        if (isWanted) setSchema(module.default as JsonSchema);
      },
      // Without it nothing is proposed; everything else works.
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [kind]);
  return schema;
}
