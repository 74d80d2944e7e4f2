import { z } from 'zod';
import { limitSchema, retryPolicySchema } from './retry.js';

/** How bad a failure is. `warning`: the step goes on; `fatal`: the engine that met it stops. */
export const severities = ['warning', 'major', 'fatal'] as const;
export type Severity = (typeof severities)[number];

/** Whose failure it is: of the data that were given, or of what works on them. */
export const failureKinds = ['business', 'technical'] as const;
export type FailureKind = (typeof failureKinds)[number];

const retryText = 'must be true, false, a number of retries or a retry policy {limit, delay, …}';

/** What a catalogue says of one failure, as users write it. */
export const cataloguedSchema = z.looseObject(
  {
    severity: z.exactOptional(
      z
        .enum(severities, { error: 'must be "warning", "major" or "fatal"' })
        .describe(
          'warning: the step succeeds all the same; major (default): it fails; fatal: the engine stops, too.',
        ),
    ),
    retry: z.exactOptional(
      z
        .union([z.boolean(), limitSchema, retryPolicySchema], { error: retryText })
        .describe(
          'false: never tried again; true: by the policy of the step, whatever its on and never say; or a policy.',
        ),
    ),
    kind: z.exactOptional(
      z
        .enum(failureKinds, { error: 'must be "business" or "technical"' })
        .describe('business: not tried again unless a policy names it.'),
    ),
  },
  { error: 'must be an object {severity, retry, kind}' },
);

/** The error catalogue of a flow: what failures mean, by their name or code, or a pattern of them. */
export const catalogueSchema = z
  .record(z.string(), cataloguedSchema, {
    error: 'must be an object: name or code of a failure -> {severity, retry, kind}',
  })
  .describe('What failures mean, by their name or code; * in it stands for any text.');

/** What a catalogue says of one failure. */
export type Catalogued = {
  readonly severity?: Severity;
  readonly retry?: boolean | z.infer<typeof limitSchema> | z.infer<typeof retryPolicySchema>;
  readonly kind?: FailureKind;
};
