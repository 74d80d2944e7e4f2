import type { IncomingHttpHeaders } from 'node:http';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isEndedJob, isProved, type Delivered, type HookRequest } from '../../client.js';
import { problem, TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import {
  areKeys,
  dedupeHeader,
  mostHookBytes,
  usualHookWaitMs,
  type Hook,
} from '../../model/hook.js';
import { writtenSpanMs } from '../../model/span.js';
import { defaultOwner } from '../../model/task.js';
import { parseDocument } from '../../reading/parse.js';
import { statusOf } from '../../reading/status.js';
import type { Api } from '../api.js';
import { waitUntilReady } from '../feed/wait.js';
import { deliveredSchema } from '../hook-schemas.js';
import { readDelivery } from '../plumbing/bodies.js';
import { route, type RouteAnswer } from '../route.js';
import { waiting } from './common.js';
import { definitionIdParams } from './definition-storing.js';

export const deliverRoute = route({
  method: 'POST',
  path: '/hooks/{id}',
  id: 'deliverToHook',
  tag: 'hooks',
  summary: 'Deliver something to a hook, which starts a job.',
  description:
    'Senders prove themselves as "check" of the hook says; they need no other credentials. The body is JSON, a form, or a text, in UTF-8. Parameters of the address are free.',
  access: 'open',
  params: definitionIdParams('hook'),
  body: {
    schema: z.unknown(),
    types: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
    checkedBy: 'route',
    optional: true,
    isRaw: true,
    // It is read before anybody has proved anything.
    mostBytes: mostHookBytes,
    refuseLarge: async (api, params, bytes) => {
      const { id } = params as { readonly id: string };
      assertFits(api, (await hookCalled(api, id)).hook, bytes);
    },
  },
  answers: {
    200: {
      description: 'It starts nothing, or was delivered before, or the job has succeeded.',
      schema: deliveredSchema,
    },
    202: { description: 'Its job is stored.', schema: deliveredSchema },
    500: { description: 'The job that was waited for has not succeeded.', schema: deliveredSchema },
  },
  problems: [
    ...(['hook_missing', 'hook_refused', 'hook_body_large', 'hook_unnamed'] as const),
    ...(['hook_unfit', 'hook_locked', 'json_invalid', 'media_type_unknown'] as const),
    ...(['id_taken', 'not_unique', 'unique_key', 'document_refused'] as const),
    'too_many_requests',
  ],
  handle: async ({ api, params: { id }, query, body, headers, signal }) => {
    const { doc, hook } = await hookCalled(api, id);
    const raw = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    assertFits(api, hook, raw.length);
    const request = { headers: flat(headers), query, raw };
    await assertProved(api, { doc, hook }, request);
    const delivered = await api.client.deliver(hook, deliveryOf(hook, request, headers), {
      signal,
    });
    return answerTo(api, hook, delivered, signal);
  },
});

type Called = { readonly doc: StoredDocument; readonly hook: Hook };

/** The hook of that name that takes deliveries. @throws TwsError `hook_missing` */
async function hookCalled({ client, log }: Api, id: string): Promise<Called> {
  try {
    const doc = await client.definition('hook', id, defaultOwner);
    const parsed = doc === undefined ? undefined : parseDocument(doc);
    if (doc !== undefined && parsed?.kind === 'hook' && parsed.ok && parsed.value.enabled !== false)
      return { doc, hook: parsed.value };
  } catch (error) {
    if (!(error instanceof TwsError) || error.code !== 'definition_ambiguous') throw error;
    log.warn({ hook: id }, error.message);
  }
  throw problem('hook_missing', { name: id });
}

/** @throws TwsError `hook_body_large` */
function assertFits(api: Api, { _id: id, max_bytes: most = mostHookBytes }: Hook, bytes: number) {
  if (bytes <= most) return;
  api.refusals.note(id, 413);
  throw problem('hook_body_large', { most });
}

/** Header lines of one name are one line. */
function flat(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]),
  );
}

/** @throws TwsError `hook_refused`, `hook_locked` */
async function assertProved(api: Api, { doc, hook }: Called, request: HookRequest): Promise<void> {
  const { check, _id: id } = hook;
  if (check === 'none') return;
  const secrets = await api.openHook(doc, hook).catch((error: unknown) => {
    if (!(error instanceof TwsError)) throw error;
    api.log.error({ hook: id }, error.message);
    throw problem('hook_locked', { hook: id });
  });
  if (!areKeys(check, secrets)) {
    api.log.error({ hook: id }, `A secret of hook ${id} is empty, or is not the base64 of a key.`);
    throw problem('hook_locked', { hook: id });
  }
  if (isProved(check, request, { secrets, now: api.now() })) return;
  api.log.info(
    { hook: id },
    `A delivery to hook ${id} was refused: its sender has not proved itself.`,
  );
  api.refusals.note(id, 401);
  throw problem('hook_refused', {});
}

/** What expressions see of a delivery: not what proves its sender. @throws TwsError `hook_unnamed` */
function deliveryOf(hook: Hook, { headers, query, raw }: HookRequest, all: IncomingHttpHeaders) {
  const { check } = hook;
  const token = check === 'none' ? undefined : check.token;
  const hidden = ['authorization', 'cookie', 'proxy-authorization', token?.header?.toLowerCase()];
  const header = dedupeHeader(hook);
  const name = header === undefined ? randomUUID() : headers[header];
  if (header !== undefined && (name === undefined || name === ''))
    throw problem('hook_unnamed', { header });
  return {
    name: name as string,
    body: readDelivery(all, raw as Buffer),
    headers: without(headers, hidden),
    query: without(query, [token?.query]),
  };
}

function without<T>(all: Readonly<Record<string, T>>, hidden: readonly (string | undefined)[]) {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !hidden.includes(key)));
}

async function answerTo(
  api: Api,
  hook: Hook,
  delivered: Delivered,
  signal: AbortSignal,
): Promise<RouteAnswer> {
  if (delivered.kind === 'ignored') return { status: 200, body: { outcome: 'ignored' } };
  const { id, existed } = delivered.job;
  if (delivered.kind === 'refused') {
    const { reason } = delivered;
    api.log.warn({ hook: hook._id, job: id }, `Hook ${hook._id} cannot be followed: ${reason}`);
    throw problem('hook_unfit', { job: id });
  }
  const body = { outcome: existed ? 'duplicate' : 'started', job: id };
  if (hook.respond !== 'result') return { status: existed ? 200 : 202, body };
  const { wait } = hook;
  const job = await ended(
    api,
    id,
    wait === undefined ? usualHookWaitMs : writtenSpanMs(wait),
    signal,
  );
  const status = statusOf(job, api.now());
  if (!isEndedJob(job)) return { status: 202, body: { ...body, status } };
  if (status !== 'succeeded') return { status: 500, body: { ...body, status } };
  return { status: 200, body: { ...body, status, result: job['result'] ?? null } };
}

/** The job when it has ended, or as it is when the time is over. */
async function ended(
  api: Api,
  id: string,
  wait: number,
  signal: AbortSignal,
): Promise<StoredDocument> {
  const read = async (): Promise<StoredDocument> => {
    const doc = await api.client.get(id);
    if (doc === undefined) throw problem('document_missing', { id });
    return doc;
  };
  const { hub } = api;
  const of = { hub, id, read, readAgain: read, isReady: isEndedJob, signal };
  return waiting(api, wait, (waitMs) => waitUntilReady({ ...of, waitMs }));
}
