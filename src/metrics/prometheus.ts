import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { WriteBatch, Client, Pulse } from '../client.js';
import type { EngineMeters } from '../engine/meters.js';

/** The figures of a process for Prometheus. */
export type Prometheus = {
  readonly meters: EngineMeters;
  readonly onBatch: (batch: WriteBatch) => void;
  /** Counts all jobs and looks at all engines whenever the figures are read. */
  readonly watch: (client: Client, pulse: Pulse) => void;
  readonly contentType: string;
  /** All figures as text. */
  readonly render: () => Promise<string>;
};

/** Steps take from a few milliseconds to hours. */
const stepSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200];
const lagSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
const batchSizes = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const batchSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
/** Jobs are counted so often at most, ms. */
const countMs = 5_000;

/** Begins to keep the figures; the event loop's delay and the memory of the process are among them. */
export function createPrometheus(): Prometheus {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const claims = new Counter({
    name: 'tws_claims_total',
    help: 'Claims of steps by this engine: won, or lost because somebody else was faster.',
    labelNames: ['verdict'],
    registers,
  });
  const attempts = new Histogram({
    name: 'tws_step_seconds',
    help: 'How long attempts took, by task and outcome.',
    labelNames: ['task', 'outcome'],
    buckets: stepSeconds,
    registers,
  });
  const running = new Gauge({
    name: 'tws_steps_running',
    help: 'Attempts that run in this engine.',
    labelNames: ['task'],
    registers,
  });
  const lag = new Histogram({
    name: 'tws_feed_lag_seconds',
    help: 'How long changes of the database take to reach this engine.',
    buckets: lagSeconds,
    registers,
  });
  const labels = createLabels(mostTasks);
  return {
    meters: {
      claim: (verdict) => claims.inc({ verdict }),
      attempt: (facts) => {
        const task = labels.of(facts.task);
        const began = performance.now();
        running.inc({ task });
        return {
          run: (call) => call(),
          end: (outcome) => {
            running.dec({ task });
            attempts.observe({ task, outcome }, (performance.now() - began) / 1000);
          },
        };
      },
      feedLag: (ms) => lag.observe(ms / 1000),
      ...slotFigures(registers),
      ...triggerFigures(registers),
      ...limitFigures(registers),
      ...notificationFigures(registers),
    },
    onBatch: batchFigures(registers),
    watch: (client, pulse) => watchDatabase(registry, client, pulse),
    contentType: registry.contentType,
    render: () => registry.metrics(),
  };
}

/** Figures of limits. */
function limitFigures(registers: Registry[]): Pick<EngineMeters, 'grants' | 'waiting'> {
  const grants = new Counter({
    name: 'tws_rate_grants_total',
    help: 'Grants of rate limits that this engine took.',
    registers,
  });
  const waiting = new Gauge({
    name: 'tws_jobs_waiting',
    help: 'Jobs that this engine knows to wait, by cause.',
    labelNames: ['cause'],
    registers,
  });
  return {
    grants: (count) => grants.inc(count),
    waiting: (cause, count) => waiting.set({ cause }, count),
  };
}

/** Figures of schedules. */
function slotFigures(registers: Registry[]): Pick<EngineMeters, 'slots' | 'slotDelay'> {
  const slots = new Counter({
    name: 'tws_schedule_slots_total',
    help: 'Slots of schedules that this engine decided: started, skipped or missed.',
    labelNames: ['verdict'],
    registers,
  });
  const delay = new Histogram({
    name: 'tws_schedule_delay_seconds',
    help: 'How long after its time a slot was started, jitter included.',
    buckets: lagSeconds,
    registers,
  });
  return {
    slots: (verdict, count) => slots.inc({ verdict }, count),
    slotDelay: (ms) => delay.observe(Math.max(0, ms) / 1000),
  };
}

/** Figures of what starts jobs beside schedules. */
function triggerFigures(registers: Registry[]): Pick<EngineMeters, 'triggers'> {
  const triggers = new Counter({
    name: 'tws_triggers_total',
    help: 'Jobs that events and signals started or could not start, by this process.',
    labelNames: ['by', 'verdict'],
    registers,
  });
  return { triggers: (by, verdict, count) => triggers.inc({ by, verdict }, count) };
}

/** Figures of notifications. */
function notificationFigures(registers: Registry[]): Pick<EngineMeters, 'notification'> {
  const notifications = new Counter({
    name: 'tws_notifications_total',
    help: 'Notifications that this engine made, by what they tell.',
    labelNames: ['event'],
    registers,
  });
  return { notification: (event) => notifications.inc({ event }) };
}

/** Figures of group commit. */
function batchFigures(registers: Registry[]): (batch: WriteBatch) => void {
  const batchSize = new Histogram({
    name: 'tws_batch_documents',
    help: 'Documents in a request of group commit.',
    buckets: batchSizes,
    registers,
  });
  const batchTime = new Histogram({
    name: 'tws_batch_seconds',
    help: 'How long a request of group commit takes.',
    buckets: batchSeconds,
    registers,
  });
  return ({ documents, ms }) => {
    batchSize.observe(documents);
    batchTime.observe(ms / 1000);
  };
}

/** So many tasks have figures of their own, whatever comes: each takes some lines for ever. */
const mostTasks = 200;
const otherTasks = 'other';

/** The first names as they are, all later ones together. */
function createLabels(most: number): { readonly of: (name: string) => string } {
  const known = new Set<string>();
  return {
    of: (name) => {
      if (known.has(name)) return name;
      if (known.size >= most) return otherTasks;
      known.add(name);
      return name;
    },
  };
}

/** Whoever reads figures waits some seconds; a database that takes longer is left out. */
const soonMs = 3_000;

async function soon<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The database takes too long.')), soonMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function watchDatabase(registry: Registry, client: Client, pulse: Pulse): void {
  const registers = [registry];
  let counted = -Infinity;
  new Gauge({
    name: 'tws_jobs',
    help: 'Jobs by status, as of the last change of each.',
    labelNames: ['status'],
    registers,
    async collect() {
      if (performance.now() - counted < countMs) return;
      counted = performance.now();
      try {
        const counts = await soon(client.count());
        for (const [status, n] of Object.entries(counts)) this.set({ status }, n);
      } catch {
        // What cannot be counted is not told; the other figures are.
        this.reset();
      }
    },
  });
  new Gauge({
    name: 'tws_engine_lease_age_seconds',
    help: 'How long ago each living engine renewed its lease, by its own clock.',
    labelNames: ['engine', 'host'],
    registers,
    async collect() {
      this.reset();
      // What cannot be read is not told; the other figures are.
      const engines = await soon(client.engines()).catch(() => []);
      const now = Date.now();
      for (const { engine, alive } of pulse.look(engines, now)) {
        if (!alive) continue;
        const { _id, host, started, renewed } = engine;
        const at = typeof renewed === 'number' ? renewed : started;
        this.set({ engine: _id, host }, Math.max(0, now - at) / 1000);
      }
    },
  });
}
