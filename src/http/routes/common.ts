import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { problem, TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import type { Api } from '../api.js';
import { mayHave } from '../access/owners.js';
import { localPrincipal, reaches, type Level, type Principal } from '../access/principal.js';

/** Describes a route that `assertAllOwners` guards. */
export const ofAllOwners =
  'It concerns the jobs of all owners: only users who may see all of them can do it.';

/** Somebody who was let in; the plumbing has seen to it. */
export function known({ principal }: { readonly principal: Principal | undefined }): Principal {
  return principal ?? localPrincipal;
}

/**
 * Who makes a request that has lasted: he may have lost his role, his token or his session meanwhile.
 * Undefined for whoever may not go on; `unknown` while nobody can tell.
 */
export async function stillKnown(
  { identify }: Api,
  headers: IncomingHttpHeaders,
  level: Level,
): Promise<Principal | undefined | 'unknown'> {
  try {
    const { principal } = await identify.of(headers);
    return principal !== undefined && reaches(principal, level) ? principal : undefined;
  } catch (error) {
    const isRefused = error instanceof TwsError && error.code === 'token_refused';
    return isRefused ? undefined : 'unknown';
  }
}

/** As `stillKnown`. @throws TwsError `token_refused`, `sign_in_needed`, `database_away` */
export async function knownStill(
  api: Api,
  headers: IncomingHttpHeaders,
  level: Level,
): Promise<Principal> {
  const still = await stillKnown(api, headers, level);
  if (still === 'unknown') throw problem('database_away', {});
  if (still === undefined) {
    throw problem(headers.authorization === undefined ? 'sign_in_needed' : 'token_refused', {});
  }
  return still;
}

/**
 * Runs `ask`, which may take a while, then checks that the caller still has access, whether `ask`
 * succeeded or was refused. @throws as `knownStill` if not, else whatever `ask` throws
 */
export async function answeredTo<T>(
  { api, headers, level }: { api: Api; headers: IncomingHttpHeaders; level: Level },
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } finally {
    await knownStill(api, headers, level);
  }
}

/** Does what waits, unless very many wait already: then it has to do without waiting. */
export async function waiting<T>(
  { waits }: Api,
  waitMs: number,
  run: (waitMs: number) => Promise<T>,
): Promise<T> {
  if (waitMs === 0 || waits.open >= waits.most) return run(0);
  waits.open += 1;
  try {
    return await run(waitMs);
  } finally {
    waits.open -= 1;
  }
}

/**
 * A job that somebody may see. One of another owner is as absent as one that is not there.
 * @throws TwsError `document_missing`
 */
export async function jobFor(
  { client }: Api,
  principal: Principal,
  id: string,
): Promise<StoredDocument> {
  const doc = await client.get(id);
  if (doc === undefined || doc['type'] !== 'job' || !mayHave(principal, doc)) {
    throw problem('document_missing', { id });
  }
  return doc;
}

export const idParams = z.object({ id: z.string().min(1).describe('Id of the job.') });

/** Longest wait of one request, s. */
const mostSeconds = 120;
const waitText = `must be a length of time such as 30s or 500ms, at most ${mostSeconds}s`;
const unitMs = { ms: 1, s: 1_000, m: 60_000, '': 1_000 } as const;

/** `30s`, `500ms`, `1m`, or seconds; becomes milliseconds. */
export const waitSchema = z
  .string()
  .regex(/^\d{1,6}(?:ms|s|m)?$/, { error: waitText })
  .transform((text) => {
    const [, number = '0', unit = ''] = /^(\d+)(ms|s|m)?$/.exec(text) ?? [];
    return Number(number) * unitMs[unit as keyof typeof unitMs];
  })
  .refine((ms) => ms <= mostSeconds * 1_000, { error: waitText });

/** `true` or `false` in a query. */
export const flagParam = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true');

/** A whole number in a query. */
export function countParam(from: number, to: number) {
  const error = `must be a whole number from ${from} to ${to}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error })
    .transform(Number)
    .refine((count) => count >= from && count <= to, { error });
}

/** A time: epoch milliseconds (in a query as text) or ISO 8601. */
const timeText = 'must be a time: milliseconds since 1970, or ISO 8601 with a zone';
export const timeParam = z
  .union(
    [
      z.int({ error: timeText }).min(0, { error: timeText }),
      z.string().regex(/^\d{1,16}$/, { error: timeText }),
      z.iso.datetime({ offset: true, error: timeText }),
    ],
    { error: timeText },
  )
  .transform((given) => {
    if (typeof given === 'number') return given;
    return /^\d+$/.test(given) ? Number(given) : Date.parse(given);
  });

/** A value that may be given several times, or as `a,b`. */
export const listParam = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().flatMap((text) => text.split(',').filter(Boolean)));

/** So often a document is read anew when an engine wrote it in between. */
const mostTries = 10;

/** Does what reads and writes a document again while somebody else was faster. */
export async function despiteEngines<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      const isLost = error instanceof TwsError && error.code === 'document_conflict';
      if (!isLost || tries === mostTries) throw error;
    }
  }
}
