import { randomUUID } from 'node:crypto';
import { offerWork, PluginError, type Detour, type PluginContext } from '../src/plugin/index.js';

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
      },
    },
  },
};

type Params = { readonly worker?: { readonly queue?: string } };

/** The step waits, without a slot, until a worker has taken it and answered. */
export default function worker({ job, params, wait }: PluginContext<Params>): Detour {
  const now = Date.now();
  const { expires } = job;
  const end = typeof expires === 'string' ? Date.parse(expires) : Number(expires ?? Infinity);
  if (end <= now) {
    const message = `No worker had taken the step when its job expired at ${new Date(end).toISOString()}.`;
    throw new PluginError(message, { name: 'Expired', retryable: false, exit: 5 });
  }
  const timeout = end === Infinity ? {} : { timeout: Math.min(end - now, longestWaitMs) };
  const { queue } = params.worker ?? {};
  const own = queue === undefined ? job : { ...job, queue };
  return wait(offerWork(own, { at: now, id: randomUUID() }), timeout);
}

/** Nobody may wait longer than a year for a time. */
const longestWaitMs = 31_536_000_000;
