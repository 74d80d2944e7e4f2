import { z } from 'zod';
import { problem, type ProblemCode } from '../../errors.js';
import { isSensitiveName, sensitiveAccessSchema } from '../../model/sensitive.js';
import { nameSchema, textSchema } from '../../model/scalars.js';
import { spanSchema, writtenSpanMs } from '../../model/span.js';
import { epochMsSchema } from '../../model/summary.js';
import { defaultOwner } from '../../model/task.js';
import { keptIn } from '../../sensitive/values.js';
import type { Vault } from '../../sensitive/vault.js';
import { assertOwner, ownersFor } from '../access/owners.js';
import type { Api } from '../api.js';
import { route, type Route } from '../route.js';
import { countParam, known, timeParam } from './common.js';

/** What any of these routes may be refused for. */
const usual: readonly ProblemCode[] = [
  ...(['owner_refused', 'sensitive_missing', 'sensitive_closed'] as const),
];
const noKey: readonly ProblemCode[] = ['crypto_key_missing', 'secret_other_key', 'secret_bound'];

const ownerKey = nameSchema.optional().describe(`Whose; default ${defaultOwner}.`);
const subjectKey = textSchema
  .min(1)
  .max(1_000)
  .describe('The subject in clear, or its reference (s-…).');
const whyKey = textSchema.max(1_000).optional().describe('The reason, for the record.');
const namesKey = z
  .array(
    textSchema.refine(isSensitiveName, {
      error: 'must be the name of a value: letters, digits, "-" and "_"',
    }),
  )
  .min(1)
  .max(100);
const subjectShape = { subject: z.string().describe('Its reference.'), owner: z.string() };

const putRoute = route({
  method: 'POST',
  path: '/sensitive',
  id: 'putSensitive',
  tag: 'sensitive',
  summary: 'Store values of a subject, beside those that it has.',
  description:
    'It is on record. The answer has the reference of the subject, which stands for it in "subject" of jobs.',
  access: 'sensitive',
  body: {
    schema: z.strictObject({
      ...{ owner: ownerKey, subject: subjectKey, why: whyKey },
      values: z.record(z.string(), z.string()).describe('Texts of 4 to 16384 characters, by name.'),
      retain: spanSchema
        .optional()
        .describe(
          'How long the values of the subject stay after one was last stored: milliseconds, or P90D; 0: for ever.',
        ),
    }),
  },
  answers: {
    200: {
      description: 'Stored.',
      schema: z
        .object({ ...subjectShape, names: z.array(z.string()) })
        .meta({ id: 'SensitiveStored' }),
    },
  },
  problems: [...usual, ...noKey, 'sensitive_invalid', 'sensitive_reference_unknown'],
  handle: async ({ api, body, principal: who }) => {
    const principal = known({ principal: who });
    const { owner = defaultOwner, subject, values, why, retain } = body;
    assertOwner(principal, owner);
    const kept = retain === undefined ? undefined : writtenSpanMs(retain);
    const by = { who: principal.name, why, retain: kept };
    const stored = await vaultOf(api).put(owner, subject, values, by);
    return { status: 200, body: { ...stored, names: Object.keys(values) } };
  },
});

const referenceRoute = route({
  method: 'POST',
  path: '/sensitive/reference',
  id: 'referSensitive',
  tag: 'sensitive',
  summary: 'The reference of a subject, for "subject" of jobs.',
  access: 'sensitive',
  body: { schema: z.strictObject({ owner: ownerKey, subject: subjectKey }) },
  answers: {
    200: {
      description: 'The reference.',
      schema: z.object(subjectShape).meta({ id: 'SensitiveReference' }),
    },
  },
  problems: [...usual, ...noKey],
  handle: async ({ api, body: { owner = defaultOwner, subject }, principal }) => {
    assertOwner(known({ principal }), owner);
    return { status: 200, body: await vaultOf(api).subjectOf(owner, subject) };
  },
});

const readRoute = route({
  method: 'POST',
  path: '/sensitive/read',
  id: 'readSensitive',
  tag: 'sensitive',
  summary: 'Read values of a subject in clear, after the access is on record.',
  access: 'sensitive',
  body: {
    schema: z.strictObject({
      ...{ owner: ownerKey, subject: subjectKey, why: whyKey },
      names: namesKey.describe('Which values.'),
    }),
  },
  answers: {
    200: {
      description: 'The values. No cache keeps them.',
      schema: z
        .object({ ...subjectShape, values: z.record(z.string(), z.string()) })
        .meta({ id: 'SensitiveValues' }),
    },
  },
  problems: [...usual, ...noKey, 'sensitive_absent'],
  handle: async ({ api, body, principal: who }) => {
    const principal = known({ principal: who });
    const { owner = defaultOwner, subject, names, why } = body;
    assertOwner(principal, owner);
    const vault = vaultOf(api);
    const of = await vault.subjectOf(owner, subject);
    const values = await vault.read({ ...of, names, who: principal.name, why });
    const missing = names.find((name) => !Object.hasOwn(values, name));
    if (missing !== undefined) throw problem('sensitive_absent', { name: missing, owner });
    return {
      status: 200,
      // These are asked for: what is sent as text is not searched for secrets.
      type: 'application/json; charset=utf-8',
      body: JSON.stringify({ ...of, values }),
    };
  },
});

const purgeRoute = route({
  method: 'POST',
  path: '/sensitive/purge',
  id: 'purgeSensitive',
  tag: 'sensitive',
  summary: 'Destroy the keys and values of a subject, or of all that are older.',
  description:
    'Nothing can read them afterwards. It is on record, and answered when no file of the database has the keys any more.',
  access: 'sensitive',
  body: {
    schema: z
      .strictObject({
        owner: nameSchema
          .optional()
          .describe('Whose; with "older_than" default all that you may see.'),
        subject: subjectKey.optional(),
        older_than: spanSchema
          .optional()
          .describe('Subjects whose values were last stored so long ago: milliseconds, or P90D.'),
        why: whyKey,
      })
      .refine(({ subject, older_than: age }) => (subject === undefined) !== (age === undefined), {
        error: 'must have either "subject" or "older_than"',
      }),
  },
  answers: {
    200: {
      description: 'Those that there were are gone.',
      schema: z.object({ purged: z.array(z.object(subjectShape)) }).meta({ id: 'SensitivePurged' }),
    },
  },
  problems: [...usual, ...noKey, 'sensitive_purge_refused', 'clock_ahead'],
  handle: async ({ api, body: { owner, subject, older_than: age, why }, principal: who }) => {
    const principal = known({ principal: who });
    const vault = vaultOf(api);
    const by = { who: principal.name, why };
    if (subject !== undefined) {
      assertOwner(principal, owner ?? defaultOwner);
      const of = await vault.subjectOf(owner ?? defaultOwner, subject);
      return { status: 200, body: { purged: await vault.purge([of], by) } };
    }
    await api.checkClock?.();
    const before = api.now() - writtenSpanMs(age ?? 0);
    const found = await vault.list(ownersFor(principal, owner));
    const old = found.filter(({ updated }) => updated < before);
    const purged = await vault.purge(
      old.map(({ owner: own, subject: reference }) => ({ owner: own, subject: reference })),
      // What is stored anew meanwhile is not that old.
      { ...by, isDue: (stored) => keptIn(stored).updated < before },
    );
    return { status: 200, body: { purged } };
  },
});

const listRoute = route({
  method: 'GET',
  path: '/sensitive',
  id: 'listSensitive',
  tag: 'sensitive',
  summary: 'The subjects and the names of their values.',
  access: 'sensitive',
  query: z.object({ owner: z.string().optional() }),
  answers: {
    200: {
      description: 'The subjects, by reference.',
      schema: z
        .object({
          subjects: z.array(
            z.object({
              ...subjectShape,
              names: z.array(z.string()),
              updated: epochMsSchema.describe('When a value was last stored.'),
              retain: z
                .number()
                .optional()
                .describe(
                  'How long they stay after that, ms; 0: for ever; absent: as the setting says.',
                ),
              readable: z.boolean().describe('false: its key is destroyed.'),
            }),
          ),
        })
        .meta({ id: 'SensitiveSubjects' }),
    },
  },
  problems: usual,
  handle: async ({ api, query: { owner }, principal }) => {
    const owners = ownersFor(known({ principal }), owner);
    return { status: 200, body: { subjects: await vaultOf(api).list(owners) } };
  },
});

const accessesRoute = route({
  method: 'GET',
  path: '/sensitive/accesses',
  id: 'listSensitiveAccesses',
  tag: 'sensitive',
  summary: 'Who stored, read or purged values, the oldest first.',
  access: 'sensitive',
  query: z.object({
    owner: z.string().optional(),
    subject: z.string().optional().describe('Reference of a subject.'),
    since: timeParam.optional().describe('From then on.'),
    after: z
      .string()
      .regex(/^access:/, { error: 'must be the id of a record' })
      .optional()
      .describe('Those after the record with this id: "next" of the page before.'),
    limit: countParam(1, 1_000).optional().describe('So many; default 100.'),
  }),
  answers: {
    200: {
      description: 'A page of the records.',
      schema: z
        .object({
          accesses: z.array(
            sensitiveAccessSchema.omit({ type: true }).safeExtend({ id: z.string() }).strip(),
          ),
          next: z.string().optional().describe('There are more, after this one.'),
        })
        .meta({ id: 'SensitiveAccesses' }),
    },
  },
  problems: usual,
  handle: async ({ api, query, principal }) => {
    const { owner, subject, since, after, limit = 100 } = query;
    const owners = ownersFor(known({ principal }), owner);
    const most = limit + 1;
    const found = await vaultOf(api).accesses({ owners, subject, since, after, most });
    const page = found.slice(0, limit);
    const next = found.length > limit ? { next: page.at(-1)?._id } : {};
    const accesses = page.map(({ _id: id, _rev, type: _type, ...record }) => ({ id, ...record }));
    return { status: 200, body: { accesses, ...next } };
  },
});

/** Store, refer to, read, list and purge sensitive values, and the record of that. */
export const sensitiveRoutes: readonly Route[] = [
  ...[putRoute, listRoute, referenceRoute, readRoute, purgeRoute, accessesRoute],
];

/** @throws TwsError `sensitive_missing` */
function vaultOf({ sensitive }: Api): Vault {
  if (sensitive !== undefined) return sensitive;
  throw problem('sensitive_missing', { database: '' });
}
