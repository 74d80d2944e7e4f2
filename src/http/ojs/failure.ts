import type { z } from 'zod';
import type { Failure } from '../../model/step.js';
import { shortened } from '../../words.js';
import type { nackSchema } from './schemas.js';

/** Every attempt keeps its failure in the job, so what workers say is kept in short. In characters. */
const longest = { name: 200, message: 4_000, details: 16_384 } as const;

/** What a worker says of a failure, as a job keeps it; of long details it keeps how long they were. */
export function failureOf({
  type,
  code,
  message,
  retryable,
  details,
}: z.infer<typeof nackSchema>['error']): Failure {
  const name = [type, code].find((one) => one !== undefined && one !== '') ?? 'handler_error';
  return {
    name: shortened(name, longest.name),
    message: shortened(message, longest.message),
    ...(code === undefined ? {} : { code: shortened(code, longest.name) }),
    ...(retryable === undefined ? {} : { retryable }),
    ...(details === undefined ? {} : { details: small(details) }),
  };
}

function small(details: object): object {
  const { length } = JSON.stringify(details);
  return length <= longest.details ? details : { $omitted: length };
}
