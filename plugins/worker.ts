import { randomUUID } from 'node:crypto';
import { offerOfWork, PluginError, type Detour, type PluginContext } from '../src/plugin/index.js';

export const description = 'Leaves the step to a worker that fetches it over HTTP (Open Job Spec)';

export const params = {
  type: 'object',
  properties: {
    args: { type: 'array' },
    worker: {
      type: 'object',
      additionalProperties: false,
      properties: {
        type: { type: 'string', minLength: 1 },
        queue: { type: 'string', minLength: 1 },
        lease: { type: 'integer', minimum: 1 },
        timeout: { type: 'integer', minimum: 0 },
        priority: { type: 'integer', minimum: 0, maximum: 999 },
        id: { type: 'string', minLength: 1 },
        rate: {
          type: 'object',
          required: ['key', 'limit', 'per'],
          additionalProperties: false,
          properties: {
            key: { type: 'string', minLength: 1 },
            limit: { type: 'integer', minimum: 1 },
            per: { type: 'integer', minimum: 1 },
          },
        },
      },
    },
  },
};

type Params = { readonly worker?: { readonly queue?: string } };

/** The step waits, without a slot, until a worker has taken it and answered. */
export default function worker({ job, params, wait }: PluginContext<Params>): Detour {
  const now = Date.now();
  const offer = offerOfWork(job, params, now, { at: now, id: randomUUID() });
  if (offer.kind === 'late') {
    const message = `No worker had taken the step when its job expired at ${new Date(offer.end).toISOString()}.`;
    throw new PluginError(message, { name: 'Expired', retryable: false, exit: 5 });
  }
  const { signal, timeoutMs } = offer;
  return wait(signal, timeoutMs === undefined ? {} : { timeout: timeoutMs });
}
