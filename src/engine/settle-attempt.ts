import { carrying } from '../decide/carrying.js';
import type { Outcome } from '../decide/intent.js';
import type { Report } from '../decide/report.js';
import { settle } from '../decide/settle.js';
import { abandoned } from '../decide/abandoned.js';
import type { StoredDocument } from '../model/parse.js';
import type { LiveStep } from '../model/step.js';
import { cancelChildren } from './abandon.js';
import { goOn } from './commit.js';
import { writeOrConfirm } from './confirm.js';
import { fatalEnd } from './fatal.js';
import type { JobParts } from './jobs.js';

/**
 * Writes an outcome, and in the same revision whatever comes next. A lost race is computed anew on
 * the newer revision as long as the claim in it is ours; otherwise the outcome is dropped. Answers
 * the document that has to be looked at next, if there is more to do about it.
 */
export async function settleAttempt(
  parts: JobParts,
  id: string,
  step: LiveStep,
  given: Outcome,
  told: Report,
): Promise<StoredDocument | undefined> {
  const { desk, hands, reading, store, retry, decider, surroundings, now, log, fail } = parts;
  const about = { job: id, step: step.name, attempt: step.attempt };
  let outcome = given;
  let refusals = 0;
  let doc = desk.newest(id) ?? (await retry(() => store.get(id)));
  while (doc !== undefined) {
    const parsed = reading.read(doc);
    if (parsed.kind !== 'job' || !parsed.ok) break;
    const settled = settle(parsed.value, step.claim, outcome, now(), told);
    if (settled.kind === 'fenced') {
      log.warn(about, `The outcome of step ${step.name} is dropped: ${settled.because}`);
      break;
    }
    const fatal = fatalEnd(settled.job, step);
    if (fatal !== undefined) fail(fatal);
    const standpoint = { seenAt: -Infinity, ended: step.claim };
    const decision = await decider(settled.job, () => surroundings(standpoint), now);
    const next = carrying(settled.job, decision);
    const claims = next.kind === 'claim' ? next.steps : [];
    if (hands.freeSlots(step.claim) < claims.length) continue;
    hands.reserve(claims, step.claim);
    await cancelChildren(parts, id, abandoned(parsed.value, next.job));
    const written = await writeOrConfirm(parts, next.job, claims, step.claim);
    if (written.kind === 'written') {
      hands.release(step.claim);
      log.info(about, `Step ${step.name} ended: ${outcome.kind}.`);
      return goOn(parts, next, written.doc);
    }
    hands.withdraw(claims, step.claim);
    if (written.kind === 'refused') {
      refusals += 1;
      if (refusals > 1) break;
      outcome = refused(written.reason);
    } else {
      doc = await retry(() => store.get(id));
      if (doc !== undefined) desk.put(doc);
    }
  }
  hands.release(step.claim);
  return doc;
}

function refused(reason: string): Outcome {
  const message = `The database refuses the outcome of the step: ${reason}`;
  return { kind: 'failed', failure: { name: 'StoreRefused', message }, retryable: false };
}
