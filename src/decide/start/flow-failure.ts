import { failure } from '../../model/failures.js';
import type { Flow } from '../../model/flow.js';
import { ambiguityText, type VersionAsk } from '../../model/flow-versions.js';
import type { Failure } from '../../model/step.js';
import type { Found } from '../world.js';

const sameVersion = { kind: 'same_version', version: undefined } as const;

/** Why a flow cannot be used. */
export type UnusableFlow = Exclude<Found<Flow>, { kind: 'found' | 'unknown' }>;

/** The failure of a job whose flow cannot be used. */
export function flowFailure(
  flow: string,
  owner: string,
  found: UnusableFlow,
  { version = '' }: VersionAsk = {},
): Failure {
  switch (found.kind) {
    case 'absent': {
      const { versions } = found;
      if (versions === undefined) return failure('FlowMissing', { flow, owner });
      return failure('FlowVersionMissing', { flow, owner, version, versions: versions.join(', ') });
    }
    case 'ambiguous': {
      const { ids, cause = sameVersion } = found;
      return failure('FlowAmbiguous', { flow, owner, why: ambiguityText(cause, ids) });
    }
    case 'invalid':
      return failure('InvalidFlow', {
        flow,
        id: found.id,
        problem: String(found.problems[0]?.message),
        more: found.problems.length - 1,
      });
  }
}
