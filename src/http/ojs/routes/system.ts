import { z } from 'zod';
import type { Api, Check } from '../../api.js';
import { checksOf } from '../../routes/operation.js';
import { ojsVersion } from '../protocol.js';
import { ojsRoute } from '../route.js';

const flags = z.record(z.string(), z.boolean());

const manifestSchema = z
  .object({
    specversion: z.string(),
    ojs_version: z.string(),
    implementation: z.object({ name: z.string(), version: z.string(), language: z.string() }),
    conformance_level: z.number(),
    conformance_tier: z.string(),
    protocols: z.array(z.string()),
    backend: z.string(),
    capabilities: flags,
    schema_validation: z.boolean(),
    extensions: z.array(z.string()),
    endpoints: z.record(z.string(), z.string()),
    notes: z.array(z.string()).describe('What is not as the specification has it.'),
  })
  .meta({ id: 'OjsManifest' });

/** What is there of the features that the specification names. */
const capabilities = {
  batch_enqueue: true,
  cron_jobs: true,
  dead_letter: true,
  delayed_jobs: true,
  job_ttl: true,
  pause_resume: true,
  pending_jobs: true,
  priority_queues: true,
  rate_limiting: true,
  schema_validation: false,
  unique_jobs: true,
  workers: true,
  workflows: true,
} as const;

const notes = [
  'Level 4 was measured once: 132 of 133 cases of the public suite (v0.4.0) passed, with the embedded server.',
  'A type is the name of a flow or of a task; any other is refused unless there is a task "ojs".',
  'The type of a flow takes no retry, timeout and visibility_timeout: the flow says them itself.',
  'A lease that is over uses up an attempt; the job is available again at once, if there is another one.',
  'Work for workers needs no engine until a retry, the end of a lease or a cron job is due.',
  'A step of a workflow takes no scheduled_at, delay_until, expires_at, unique and pending.',
  'The events are those of the newest 2000 jobs; GET /_tws/changes is a stream of all changes.',
  '"rate_limit" takes max_per_second, or rate and key; no concurrency, no throttle.',
];

export const manifestRoute = ojsRoute({
  method: 'GET',
  path: '/manifest',
  id: 'ojsManifest',
  summary: 'What of the Open Job Spec there is.',
  access: 'open',
  answers: { 200: { description: 'The manifest.', schema: manifestSchema } },
  handle: ({ api }) => ({
    status: 200,
    body: {
      specversion: ojsVersion,
      ojs_version: ojsVersion,
      implementation: { name: 'tws', version: api.version, language: 'typescript' },
      conformance_level: 4,
      conformance_tier: 'runtime',
      protocols: ['http'],
      backend: 'couchdb',
      capabilities,
      schema_validation: capabilities.schema_validation,
      extensions: [],
      endpoints: {
        base_url: '/ojs/v1',
        manifest: '/ojs/manifest',
        health: '/ojs/v1/health',
        openapi: '/_tws/openapi.json',
      },
      notes,
    },
  }),
});

const healthSchema = z
  .object({
    status: z
      .enum(['ok', 'degraded'])
      .describe(
        'degraded with 200: no engine is alive, so that retries, lost leases and cron jobs wait.',
      ),
    version: z.string(),
    uptime_seconds: z.number(),
    backend: z.object({ type: z.string(), status: z.enum(['connected', 'disconnected']) }),
  })
  .meta({ id: 'OjsHealth' });

export const healthRoute = ojsRoute({
  method: 'GET',
  path: '/v1/health',
  id: 'ojsHealth',
  summary: 'Whether jobs are taken and done.',
  access: 'open',
  answers: {
    200: { description: 'Jobs are taken, and workers get them.', schema: healthSchema },
    503: { description: 'Not now.', schema: healthSchema },
  },
  handle: async ({ api }) => {
    const checks = await api.checks.get('', () => checksOf(api));
    const serves = checks.every(({ ok }) => ok);
    const [engines] = serves ? await api.checks.get('engines', () => engineChecks(api)) : [];
    const isWell = serves && engines?.ok === true;
    const reached = checks.every(({ what, ok }) => ok || what !== 'database');
    const body = {
      status: isWell ? 'ok' : 'degraded',
      version: ojsVersion,
      uptime_seconds: Math.floor(process.uptime()),
      backend: { type: 'couchdb', status: reached ? 'connected' : 'disconnected' },
    };
    const later = serves ? {} : { headers: { 'retry-after': '5' } };
    return { status: serves ? 200 : 503, body, ...later };
  },
});

/** Whether an engine is alive that does what workers cannot. */
async function engineChecks({ client, pulse, now }: Api): Promise<readonly Check[]> {
  const seen = pulse.look(await client.engines(), now());
  const ok = seen.some(({ alive }) => alive);
  return [{ what: 'engines', ok, says: ok ? 'One is alive.' : 'None is alive.' }];
}
