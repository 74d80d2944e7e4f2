import type { Span } from '../../model/summary.js';
import { ownersFor } from '../access/owners.js';
import { checksOf } from '../routes/operation.js';
import type { Route } from '../route.js';
import { executions, type Execution } from './job.js';
import { chainRoute } from './route.js';

const hourMs = 3_600_000;

type Counts = Record<Execution, number>;
const noCounts = (): Counts =>
  Object.fromEntries(executions.map((one) => [one, 0])) as Record<Execution, number>;

const stats = chainRoute({
  method: 'GET',
  path: '/stats',
  access: 'viewer',
  handle: async ({ api, who }) => {
    const owners = ownersFor(who, undefined);
    const now = api.now();
    const [all, spans] = await Promise.all([
      api.client.count(owners),
      api.client.spans({ from: now - 24 * hourMs, to: now, unit: 'minute', owners }),
    ]);
    const body = {
      all_time: noCounts(),
      past_24h: noCounts(),
      past_hour: noCounts(),
      current: noCounts(),
    };
    const { current } = body;
    current.queued = all.queued + all.scheduled + all.paused;
    current.running = all.running;
    current.waiting = all.waiting;
    add(body.all_time, all, 1);
    for (const span of spans) {
      const age = now - span.at;
      const part = age < hourMs ? current : age < 2 * hourMs ? body.past_hour : body.past_24h;
      add(part, span, 1);
      add(body.all_time, span, -1);
    }
    return { status: 200, body };
  },
});

function add(
  counts: Counts,
  { succeeded, failed, cancelled }: Pick<Span, 'succeeded' | 'failed' | 'cancelled'>,
  sign: 1 | -1,
): void {
  counts.succeeded += sign * succeeded;
  counts.failed += sign * failed;
  counts.canceled += sign * cancelled;
}

const ping = chainRoute({
  method: 'GET',
  path: '/ping',
  access: 'open',
  handle: async ({ api }) => {
    const checks = await api.checks.get('', () => checksOf(api));
    const down = checks.find(({ what, ok }) => what === 'database' && !ok);
    const body = { pid: process.pid, backend: down === undefined ? 'up' : 'down' };
    return {
      status: 200,
      body: down === undefined ? body : { ...body, backend_error: down.says },
    };
  },
});

export const systemOfWorkflows: readonly Route[] = [stats, ping];
