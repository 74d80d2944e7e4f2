import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient, createPulse } from '../../src/client.js';
import { allMeters } from '../../src/metrics/all.js';
import { createPrometheus } from '../../src/metrics/prometheus.js';
import { createSpans } from '../../src/metrics/spans.js';
import type { Log } from '../../src/engine/log.js';
import { flow, task } from '../cli/terminal.js';
import { openApi } from './server.js';

type Line = { readonly about: Readonly<Record<string, unknown>>; readonly message: string };

/** An API with its figures beside an engine that tells all that it does. */
async function measured() {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  onTestFinished(() => trace.disable());
  const prometheus = createPrometheus();
  const api = await openApi({ metrics: prometheus });
  prometheus.watch(createClient({ store: api.store }), createPulse());
  await api.put(
    { ...task('echo'), _id: 't-echo' },
    { ...task('bad', { plugin: 'fail', retry: 1 }), _id: 't-bad' },
    { ...flow('good', ['echo']), _id: 'f' },
    { ...flow('wrong', ['bad']), _id: 'g' },
  );
  const lines: Line[] = [];
  const tell = (about: object, message: string): void => {
    lines.push({ about: about as Line['about'], message });
  };
  const log: Log = { debug: tell, info: tell, warn: tell, error: tell };
  const spans = await createSpans();
  const meters = allMeters([prometheus.meters, ...(spans === undefined ? [] : [spans])]);
  const engine = await api.engine({ meters, log, renewMs: 50, drainMs: 100 });
  return { ...api, engineId: engine.id, lines, spans: () => exporter.getFinishedSpans() };
}

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('an engine with an API', () => {
  // Shows X-42.
  it('measures what it does, in the form of Prometheus', async () => {
    const api = await measured();
    await api.ask('POST', '/jobs', { body: { _id: 'a', flow: 'good' } });
    await api.ask('POST', '/jobs', { body: { _id: 'b', flow: 'wrong' } });
    await api.ended('a');
    await api.ended('b');
    const read = async () => (await api.ask('GET', '/metrics')).text;
    await expect.poll(read).toMatch(/^tws_feed_lag_seconds_count [1-9]/m);
    const { text, headers } = await api.ask('GET', '/_tws/metrics');
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4');
    for (const line of [
      /^tws_step_seconds_count\{task="echo",outcome="done"\} 1$/m,
      /^tws_step_seconds_count\{task="bad",outcome="failed"\} 2$/m,
      /^tws_steps_running\{task="bad"\} 0$/m,
      /^tws_claims_total\{verdict="won"\} 3$/m,
      /^tws_jobs\{status="succeeded"\} 1$/m,
      /^tws_jobs\{status="failed"\} 1$/m,
      /^tws_engine_lease_age_seconds\{engine="engine:/m,
      /^nodejs_eventloop_lag_mean_seconds /m,
    ]) {
      expect(text).toMatch(line);
    }
    const form =
      /^(?:#.*|[a-z_][a-z\d_]*(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)*\})? (?:-?[\d.e+-]+|NaN|Nan|\+Inf))$/;
    expect(text.split('\n').filter((line) => line !== '' && !form.test(line))).toEqual([]);
  });

  // Shows X-42.
  it('makes a span of each attempt, in the trace of whoever submitted the job', async () => {
    const api = await measured();
    const headers = { traceparent: parent };
    await api.ask('POST', '/jobs', { body: { _id: 'b', flow: 'wrong' }, headers });
    await api.ask('POST', '/jobs', { body: { _id: 'a', flow: 'good' } });
    await api.ended('b');
    await api.ended('a');
    const ofB = api.spans().filter(({ attributes }) => attributes['tws.job'] === 'b');
    expect(ofB.map(({ attributes }) => attributes['tws.attempt'])).toEqual([1, 2]);
    for (const span of ofB) {
      expect(span.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c');
      expect(span.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
      expect(span.status.code).toBe(2);
    }
    const [ofA] = api.spans().filter(({ attributes }) => attributes['tws.job'] === 'a');
    expect(ofA?.parentSpanContext).toBeUndefined();
  });

  // Shows L-09.
  it('says in its log of each attempt the job, the step, the attempt and the engine', async () => {
    const api = await measured();
    await api.ask('POST', '/jobs', { body: { _id: 'b', flow: 'wrong' } });
    await api.ended('b');
    const isEnd = ({ message }: Line): boolean => message.startsWith('Step bad failed');
    await expect.poll(() => api.lines.filter(isEnd).length).toBe(2);
    const about = { job: 'b', step: 'bad', engine: api.engineId };
    expect(api.lines.filter(isEnd).map((line) => line.about)).toMatchObject([
      { ...about, attempt: 1 },
      { ...about, attempt: 2 },
    ]);
  });
});
