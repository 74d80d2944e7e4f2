import { guardCost, type GuardCost } from '../../client.js';
import type { Config } from '../../config/load.js';
import { TwsError } from '../../errors.js';
import type { DoctorFinding } from './finding.js';

/** The rates, documents a second, as far as they could be measured. */
type Measured = { readonly finding: DoctorFinding; readonly cost?: GuardCost };

/** Measures what the guard costs on the server of the settings. */
export async function costOfGuard(config: Config): Promise<Measured> {
  const what = 'cost of the guard';
  try {
    const { withGuard, withoutGuard } = await guardCost(config);
    const cost = { withGuard: Math.round(withGuard), withoutGuard: Math.round(withoutGuard) };
    const share = Math.round(100 * (1 - withGuard / withoutGuard));
    const less = share > 0 ? `${share} % fewer` : 'no fewer';
    const says = `${cost.withGuard} documents a second with it, ${cost.withoutGuard} without it (${less})`;
    return { finding: { what, verdict: 'ok', says }, cost };
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    const isDenied = error.code === 'couch_not_admin';
    const needs = isDenied ? ': the measurement creates databases of its own' : '';
    const says = `It could not be measured${needs}. ${error.message}`;
    return { finding: { what, verdict: 'warn', says, todo: error.hint } };
  }
}
