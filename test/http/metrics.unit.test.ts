import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  BasicTracerProvider,
} from '@opentelemetry/sdk-trace-base';
import { trace } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPulse, type Client } from '../../src/client.js';
import type { AttemptFacts } from '../../src/engine/meters.js';
import { allMeters } from '../../src/metrics/all.js';
import { createPrometheus } from '../../src/metrics/prometheus.js';
import { createSpans } from '../../src/metrics/spans.js';

const facts: AttemptFacts = {
  job: 'j',
  flow: 'f',
  owner: 'DEFAULT',
  step: 's',
  path: '0',
  task: 't',
  plugin: 'p',
  attempt: 2,
  engine: 'engine:1',
};

describe('figures', () => {
  it('are kept of claims, attempts, the feed and batches', async () => {
    const { meters, onBatch, render } = createPrometheus();
    meters.claim('won');
    meters.claim('won');
    meters.claim('lost');
    meters.feedLag(20);
    meters.slots('missed', 3);
    meters.slotDelay(500);
    meters.triggers('event', 'started', 2);
    meters.grants(4);
    meters.waiting('rate', 5);
    meters.waiting('permit', 5);
    meters.waiting('permit', 3);
    meters.notification('late');
    onBatch({ documents: 7, ms: 3 });
    const attempt = meters.attempt(facts);
    expect(attempt?.run(() => 5)).toBe(5);
    expect(await render()).toContain('tws_steps_running{task="t"} 1');
    attempt?.end('done');
    const text = await render();
    expect(text).toContain('tws_claims_total{verdict="won"} 2');
    expect(text).toContain('tws_claims_total{verdict="lost"} 1');
    expect(text).toContain('tws_steps_running{task="t"} 0');
    expect(text).toContain('tws_step_seconds_count{task="t",outcome="done"} 1');
    expect(text).toContain('tws_feed_lag_seconds_sum 0.02');
    expect(text).toContain('tws_schedule_slots_total{verdict="missed"} 3');
    expect(text).toContain('tws_triggers_total{by="event",verdict="started"} 2');
    expect(text).toContain('tws_jobs_waiting{cause="permit"} 3');
    expect(text).toContain('tws_notifications_total{event="late"} 1');
    expect(text).toContain('tws_schedule_delay_seconds_sum 0.5');
    expect(text).toContain('tws_rate_grants_total 4');
    expect(text).toContain('tws_jobs_waiting{cause="rate"} 5');
    expect(text).toContain('tws_batch_documents_sum 7');
    expect(text).toMatch(/nodejs_eventloop_lag/);
  });

  it('are as many as there may be, however many tasks there are', async () => {
    const { meters, render } = createPrometheus();
    for (let i = 0; i < 1_000; i += 1) {
      meters.attempt({ ...facts, task: `t${i}` })?.end('done');
      meters.attempt({ ...facts, task: 't0' })?.end('done');
    }
    const lines = (await render()).split('\n').filter((line) => line.startsWith('tws_step_'));
    expect(lines.length).toBeLessThan(4_000);
    expect(lines).toContain('tws_step_seconds_count{task="t0",outcome="done"} 1001');
    expect(lines).toContain('tws_step_seconds_count{task="other",outcome="done"} 800');
  });

  it('do not wait for a database that takes requests and gives no answer', async () => {
    const { watch, render } = createPrometheus();
    const never = () => new Promise<never>(() => undefined);
    watch({ count: never, engines: never } as unknown as Client, createPulse());
    expect(await render()).toContain('tws_claims_total');
  });

  it('of the database are asked for when they are read, and left out when it is away', async () => {
    const { watch, render } = createPrometheus();
    let away = false;
    const now = Date.now();
    const engine = { _id: 'engine:1', host: 'h', beat: 1, started: now, renewed: now - 2_000 };
    const ask = <T>(value: T): Promise<T> =>
      away ? Promise.reject(new Error()) : Promise.resolve(value);
    const client = {
      count: () => ask({ queued: 3, failed: 1 }),
      engines: () => ask([{ ...engine, state: 'running' }]),
    } as unknown as Client;
    watch(client, createPulse());
    const text = await render();
    expect(text).toContain('tws_jobs{status="queued"} 3');
    expect(text).toMatch(/tws_engine_lease_age_seconds\{engine="engine:1",host="h"\} 2/);
    away = true;
    expect(await render()).not.toContain('engine:1');
  });
});

describe('spans', () => {
  it('are one for each attempt, part of the trace that the job carries', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    trace.setGlobalTracerProvider(provider);
    onTestFinished(() => trace.disable());
    const meters = await createSpans();
    const good = meters?.attempt(facts);
    expect(good?.run(() => 'called')).toBe('called');
    good?.end('done');
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const bad = meters?.attempt({ ...facts, trace: `00-${traceId}-b7ad6b7169203331-01` });
    bad?.end('failed', 'It broke.');
    const [first, second] = exporter.getFinishedSpans();
    expect(first).toMatchObject({
      name: 'step t',
      attributes: {
        'tws.job': 'j',
        'tws.attempt': 2,
        'tws.engine': 'engine:1',
        'tws.outcome': 'done',
      },
      status: { code: 0 },
    });
    expect(second).toMatchObject({ status: { code: 2, message: 'It broke.' } });
    expect(second?.spanContext().traceId).toBe(traceId);
    expect(second?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    meters?.attempt({ ...facts, trace: 'nonsense' })?.end('done');
    expect(exporter.getFinishedSpans()).toHaveLength(3);
  });

  it('are begun as soon as somebody has registered for them', async () => {
    const meters = await createSpans();
    expect(meters?.attempt(facts)).toBeUndefined();
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor(exporter)];
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
    onTestFinished(() => trace.disable());
    meters?.attempt(facts)?.end('done');
    expect(exporter.getFinishedSpans()).toHaveLength(1);
  });

  it('are left out where the package is not installed', async () => {
    const missing = Object.assign(new Error('Cannot find package'), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    expect(await createSpans(() => Promise.reject(missing))).toBeUndefined();
  });

  it('are not left out in silence where the package is broken', async () => {
    const broken = new SyntaxError('Unexpected token');
    await expect(createSpans(() => Promise.reject(broken))).rejects.toBe(broken);
  });
});

describe('several meters', () => {
  it('are told all the same, and call the plugin once, inside of each other', () => {
    const told: string[] = [];
    const one = (name: string) => ({
      claim: (verdict: string) => void told.push(`${name} ${verdict}`),
      feedLag: (ms: number) => void told.push(`${name} ${ms}`),
      attempt: () => ({
        run: <T>(call: () => T): T => {
          told.push(`${name} in`);
          return call();
        },
        end: (outcome: string) => void told.push(`${name} ${outcome}`),
      }),
    });
    const all = allMeters([one('a'), one('b')]);
    all.claim('won');
    all.feedLag(3);
    const attempt = all.attempt(facts);
    expect(attempt?.run(() => told.push('call'))).toBe(7);
    attempt?.end('done');
    expect(told).toEqual([
      'a won',
      'b won',
      'a 3',
      'b 3',
      'a in',
      'b in',
      'call',
      'a done',
      'b done',
    ]);
  });

  it('measure an attempt that at least one of them measures', () => {
    const ended: string[] = [];
    const end = (outcome: string): void => void ended.push(outcome);
    const deaf = { attempt: () => undefined };
    const one = { attempt: () => ({ run: <T>(call: () => T) => call(), end }) };
    expect(allMeters([]).attempt(facts)).toBeUndefined();
    expect(allMeters([deaf, {}]).attempt(facts)).toBeUndefined();
    const attempt = allMeters([deaf, one]).attempt(facts);
    expect(attempt?.run(() => 1)).toBe(1);
    attempt?.end('done');
    expect(ended).toEqual(['done']);
  });
});
