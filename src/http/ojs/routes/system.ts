import { z } from 'zod';
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
  cron_jobs: false,
  dead_letter: true,
  delayed_jobs: true,
  job_ttl: true,
  pause_resume: true,
  pending_jobs: true,
  priority_queues: true,
  rate_limiting: false,
  schema_validation: false,
  unique_jobs: true,
  workers: true,
  workflows: false,
} as const;

const notes = [
  'A type is the name of a flow or of a task; any other is refused unless there is a task "ojs".',
  'The type of a flow takes no retry, timeout and visibility_timeout: the flow says them itself.',
  'No "rate_limit", no linear or polynomial backoff, no "requeue" of a nack.',
  'A priority is from -499 to 500. Jitter makes waits shorter, by up to a half, and never longer.',
  'A lease that is over fails the attempt, and the retry policy says whether it is tried again.',
  'Heartbeats are answered with "running"; workers are not told to be quiet or to end.',
  'No lifecycle events of the specification: GET /_tws/changes is a stream of changes of jobs.',
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
      conformance_level: 0,
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
    status: z.enum(['ok', 'degraded']),
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
    200: { description: 'They are.', schema: healthSchema },
    503: { description: 'Not now.', schema: healthSchema },
  },
  handle: async ({ api }) => {
    const checks = await api.checks.get('', () => checksOf(api));
    const isWell = checks.every(({ ok }) => ok);
    const reached = checks.every(({ what, ok }) => ok || what !== 'database');
    const body = {
      status: isWell ? 'ok' : 'degraded',
      version: ojsVersion,
      uptime_seconds: Math.floor(process.uptime()),
      backend: { type: 'couchdb', status: reached ? 'connected' : 'disconnected' },
    };
    const later = isWell ? {} : { headers: { 'retry-after': '5' } };
    return { status: isWell ? 200 : 503, body, ...later };
  },
});
