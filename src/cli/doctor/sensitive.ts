import type { Config } from '../../config/load.js';
import { TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { sensitiveIn } from '../../model/encrypted-values.js';
import { sensitiveNamesOf } from '../../model/sensitive.js';
import { counted } from '../../words.js';
import { vaultOf, withVault } from '../sensitive-values.js';
import type { DoctorFinding } from './finding.js';

const what = 'sensitive values';

/** Whether tasks that name sensitive values can have them: databases, rights and the key. */
export async function sensitiveFindings(
  definitions: readonly StoredDocument[],
  config: Config,
): Promise<readonly DoctorFinding[]> {
  const needs = (doc: StoredDocument): boolean =>
    sensitiveIn(doc).size > 0 || (doc.type === 'task' && sensitiveNamesOf(doc).length > 0);
  if (!definitions.some(needs)) return [];
  try {
    return await withVault(vaultOf(config), async (vault) => {
      const says = `They are set up, for ${counted((await vault.list()).length, 'subject')}.`;
      return [{ what, verdict: 'ok', says }];
    });
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    return [{ what, verdict: 'fail', says: error.message, todo: error.hint }];
  }
}
