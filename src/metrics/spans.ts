import type * as OpenTelemetry from '@opentelemetry/api';
import type { AttemptFacts, EngineMeters } from '../engine/meters.js';

type Telemetry = typeof OpenTelemetry;
type Attributes = OpenTelemetry.Attributes;
type SpanContext = OpenTelemetry.SpanContext;

/**
 * Spans of OpenTelemetry, one for each attempt: to whoever has registered a provider in this process
 * (`node --import ./tracing.mjs …`), else to nobody. Undefined when the package is not installed.
 */
export async function createSpans(
  load: () => Promise<Telemetry> = () => import('@opentelemetry/api'),
): Promise<Pick<EngineMeters, 'attempt'> | undefined> {
  let telemetry: Telemetry;
  try {
    telemetry = await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
    return undefined;
  }
  const { trace, context, SpanKind, SpanStatusCode, ProxyTracerProvider } = telemetry;
  const tracer = trace.getTracer('tws');
  return {
    attempt: (facts) => {
      // Asked each time: a provider may be registered later.
      const provider = trace.getTracerProvider();
      const isUnheard =
        provider instanceof ProxyTracerProvider && provider.getDelegateTracer('tws') === undefined;
      if (isUnheard && facts.trace === undefined) return undefined;
      const remote = remoteOf(facts.trace);
      const here = context.active();
      const parent = remote === undefined ? here : trace.setSpanContext(here, remote);
      const options = { kind: SpanKind.CONSUMER, attributes: attributesOf(facts) };
      const span = tracer.startSpan(`step ${facts.task}`, options, parent);
      return {
        run: (call) => context.with(trace.setSpan(parent, span), call),
        end: (outcome, failure) => {
          span.setAttribute('tws.outcome', outcome);
          if (outcome === 'failed' || outcome === 'timeout' || outcome === 'silent') {
            const message = failure === undefined ? {} : { message: failure };
            span.setStatus({ code: SpanStatusCode.ERROR, ...message });
          }
          span.end();
        },
      };
    },
  };
}

/** The package is not installed: any other reason why it cannot be loaded is one to tell. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

/** The span that a W3C trace context (`00-<trace>-<span>-<flags>`) names. */
function remoteOf(traceparent: string | undefined): SpanContext | undefined {
  const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
  const [, traceId, spanId, flags = ''] = form.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

function attributesOf(facts: AttemptFacts): Attributes {
  const { job, flow, owner, step, path, task, plugin, attempt, engine } = facts;
  return {
    'tws.job': job,
    'tws.flow': flow,
    'tws.owner': owner,
    'tws.step': step,
    'tws.path': path,
    'tws.task': task,
    'tws.plugin': plugin,
    'tws.attempt': attempt,
    'tws.engine': engine,
  };
}
