import { useMemo } from 'preact/hooks';
import { send } from '../api.js';
import type { KnownDefinitions } from '../definitions/known.js';
import type { StoredDefinition } from '../definitions/stored.js';
import { flowOf } from '../definitions/uses.js';
import type { Checks } from '../editor/checking.js';
import { LazyJsonEditor } from '../editor/lazy-editor.js';
import type { CheckAnswer } from '../editor/marks.js';
import { isRecord } from '../editor/schema-at.js';
import type { JsonSchema } from '../../model/scalars.js';
import { stepParamsSchema } from './step-schema.js';

type Props = {
  readonly flow: StoredDefinition;
  readonly known: KnownDefinitions | undefined;
  /** Why there is no form. */
  readonly why: string | undefined;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** The whole job with these parameters, for the server's check. */
  readonly jobWith: (params: unknown) => unknown;
};

/** The parameters as JSON, with proposals from the flow's schema or from the tasks in it. */
export function ParamsEditor({ flow, known, why, text, onText, jobWith }: Props) {
  const schema = useMemo(() => schemaOf(flow, known), [flow, known]);
  const checks: Checks = {
    own: (value) =>
      isRecord(value) ? [] : [{ path: '', message: 'The parameters must be an object: {…}.' }],
    server: async (value, signal) => {
      const found = await send<CheckAnswer>('POST', 'jobs/check', jobWith(value), { signal });
      const own = (all: CheckAnswer['problems']): CheckAnswer['problems'] =>
        all
          .filter(({ path }) => /^params(?:$|[.[])/.test(path))
          .map(({ path, message }) => ({ path: path.replace(/^params\.?/, ''), message }));
      return { problems: own(found.problems), warnings: own(found.warnings) };
    },
  };
  return (
    <>
      {why !== undefined && (
        <p class="muted">
          {why} Write the parameters as JSON: by the name of a task, or of one step (
          <code>NAME-0</code>).
        </p>
      )}
      <LazyJsonEditor
        label="Parameters as JSON"
        text={text}
        onText={onText}
        schema={schema}
        checks={checks}
      />
    </>
  );
}

function schemaOf(
  { document }: StoredDefinition,
  known: KnownDefinitions | undefined,
): JsonSchema | undefined {
  const { schema } = document;
  if (isRecord(schema)) return schema;
  const flow = flowOf(document);
  return flow === undefined ? undefined : stepParamsSchema(flow, known?.tasks ?? []);
}
