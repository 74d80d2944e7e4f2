import { sendWebhook, webhookId, type PluginContext } from '../src/plugin/index.js';

export const description = 'Posts JSON to a webhook, signed when there is a secret';

export const params = {
  type: 'object',
  required: ['url'],
  properties: {
    url: { type: 'string', minLength: 1, description: 'http or https' },
    headers: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
    secret: {
      type: 'string',
      minLength: 1,
      description: 'signs it (Standard Webhooks); encrypted by tws encrypt',
    },
    event: { type: 'string', minLength: 1, description: 'type of the message; task when absent' },
    data: { description: 'data of the message' },
    body: { description: 'JSON to post instead of {type, timestamp, data}' },
  },
};

type Params = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly secret?: string;
  readonly event?: string;
  readonly data?: unknown;
  readonly body?: unknown;
};

type Doc = Readonly<Record<string, unknown>>;

export default async function webhook(context: PluginContext<Params>): Promise<unknown> {
  const { params, job, signal, key, egress } = context;
  const { url, headers } = params;
  const secret = params.secret === undefined ? undefined : context.secret('secret');
  const id = webhookId(key);
  const now = Date.now();
  const message = params.body ?? messageOf(params, job, now);
  const body = JSON.stringify(message);
  const status = await sendWebhook({ url, id, body, headers, secret, signal, egress, now });
  return context.done({ status, id });
}

/** A notification tells how its subject ended; any other job tells what its parameters say. */
function messageOf({ event, data }: Params, job: Doc, now: number): Doc {
  const { notifies } = job as { readonly notifies?: Doc };
  if (notifies === undefined || event !== undefined || data !== undefined) {
    return { type: event ?? 'task', timestamp: isoOf(now, now), data: data ?? { job: job['_id'] } };
  }
  const { status, event: alert = status, end, at: since = end } = notifies;
  const at = typeof since === 'number' ? since : now;
  return { type: `job.${String(alert)}`, timestamp: isoOf(at, now), data: factsOf(notifies) };
}

/** What is told; the rest is for the engine. */
function factsOf(notifies: Doc): Doc {
  const ofEngine = ['depth', 'of_rev', 'include', 'entry', 'since', 'format', 'message'];
  return Object.fromEntries(Object.entries(notifies).filter(([key]) => !ofEngine.includes(key)));
}

/** A document may name a time that no date can hold: that keeps nobody from being told. */
function isoOf(at: number, now: number): string {
  const date = new Date(at);
  return (Number.isNaN(date.getTime()) ? new Date(now) : date).toISOString();
}
