import type { Client } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { hookStatus } from '../../reading/hook.js';
import { problemSentences, noteSentences } from '../schedules-and-hooks.js';
import type { DoctorFinding } from './finding.js';

/** Hooks that take no delivery because of a mistake, and those with what is probably a mistake. */
export async function checkHooks(
  client: Pick<Client, 'find'>,
  hooks: readonly StoredDocument[],
): Promise<readonly DoctorFinding[]> {
  const found: DoctorFinding[] = [];
  for (const doc of hooks) {
    const what = `hook ${doc._id}`;
    if (hookStatus(doc) === 'invalid') {
      const [first = ''] = problemSentences(doc);
      const todo = 'Correct it and store it again; `tws hook show` tells all that is wrong.';
      found.push({ what, verdict: 'fail', says: `It cannot be followed: ${first}`, todo });
      continue;
    }
    const todo = 'Correct it and store it again, or store what it names.';
    for (const says of await noteSentences(client, doc)) {
      found.push({ what, verdict: 'warn', says, todo });
    }
  }
  return found;
}
