import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EgressPolicy } from '../../plugin/egress.js';
import type { PluginError } from '../../plugin/errors.js';
import { sendWebhook, webhookId } from '../../plugin/webhook.js';
import { TwsError } from '../../errors.js';
import type { Keyring } from '../../secrets/keyring.js';
import { openSettings } from '../../secrets/settings.js';
import type { Log } from '../log.js';
import type { EngineEvent, EngineEventType } from '../../model/engine-event.js';

/** An address to which events of the engines are sent; `on` absent: all of them. */
export type SystemWebhook = {
  readonly url: string;
  readonly on?: readonly EngineEventType[];
  /** Encrypted, or in clear. */
  readonly secret?: string | { readonly $enc: string };
  readonly headers?: Readonly<Record<string, string | number>>;
};

export type SystemWebhookOptions = {
  readonly webhooks: readonly SystemWebhook[];
  readonly database: string;
  readonly keyring: Keyring;
  readonly onSecret?: ((clear: string) => void) | undefined;
  readonly log: Log;
  /** Which addresses may be reached. */
  readonly egress?: EgressPolicy | undefined;
  /** The wait before the first repetition, ms; each is five times as long as the one before. */
  readonly retryMs?: number;
};

export type SystemWebhooks = {
  readonly take: (event: EngineEvent) => void;
  /** Sends what is left, for at most `waitMs`; what is not sent by then is dropped. */
  readonly close: (waitMs: number) => Promise<void>;
};

/** Maximum number of events that wait for one address; more are dropped. */
export const mostWaiting = 100;
const mostTries = 4;
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;
const timeoutMs = 15_000;

/** Sends events to webhooks. Delivery is best effort: an event that fails four times is dropped. */
export function createSystemWebhooks(options: SystemWebhookOptions): SystemWebhooks {
  const abort = new AbortController();
  const lines = options.webhooks.map((webhook, i) => createLine(webhook, i, options, abort.signal));
  return {
    take: (event) => lines.forEach((line) => line.take(event)),
    close: async (waitMs) => {
      const over = new AbortController();
      const late = sleep(waitMs, undefined, { signal: over.signal }).catch(() => undefined);
      await Promise.race([Promise.all(lines.map((line) => line.idle())), late]);
      over.abort();
      abort.abort();
      await Promise.all(lines.map((line) => line.idle()));
    },
  };
}

/** An event on its way: every try of it has the same id. */
type Waiting = { readonly id: string; readonly event: EngineEvent };

/** One address, to which one event goes after the other. */
function createLine(
  webhook: SystemWebhook,
  at: number,
  options: SystemWebhookOptions,
  signal: AbortSignal,
) {
  const { log, database, egress, retryMs = firstWaitMs } = options;
  const clear = inClear(webhook, at, options);
  clear.catch(() => undefined);
  const waiting: Waiting[] = [];
  let working: Promise<void> | undefined;
  let dropped = 0;
  const drop = (why: string): void => {
    dropped += 1;
    log.warn(
      { dropped },
      `An event for a webhook of the settings is dropped (${dropped} so far): ${why}`,
    );
  };
  const send = async ({ id, event }: Waiting): Promise<void> => {
    const body = bodyOf(event, database);
    for (let tries = 1, waitMs = retryMs; ; tries += 1, waitMs *= 5) {
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
        const opened = await clear;
        await sendWebhook({ ...opened, id, body, signal: limit, egress, now: Date.now() });
        return;
      } catch (error) {
        if (signal.aborted) return drop('the engine ends.');
        const { retryable, retryAfter = waitMs, message } = error as PluginError;
        if (retryable === false || error instanceof TwsError || tries === mostTries) {
          return drop(message);
        }
        const ms = Math.min(longestWaitMs, Math.max(waitMs, Number(retryAfter) || 0));
        await sleep(ms, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await send(next);
    working = undefined;
  };
  return {
    take: (event: EngineEvent): void => {
      if (webhook.on !== undefined && !webhook.on.includes(event.type)) return;
      if (waiting.length >= mostWaiting) return drop(`${mostWaiting} others wait.`);
      waiting.push({ id: webhookId(randomUUID()), event });
      working ??= work();
    },
    idle: async (): Promise<void> => {
      await working;
    },
  };
}

async function inClear(
  { url, headers, secret }: SystemWebhook,
  at: number,
  { keyring, onSecret = () => undefined }: SystemWebhookOptions,
) {
  const opened = await openSettings({ url, headers, secret }, `webhooks.${at}`, keyring);
  opened.clear.forEach(onSecret);
  return opened.value as Pick<Parameters<typeof sendWebhook>[0], 'url' | 'headers' | 'secret'>;
}

function bodyOf({ type, at, ...data }: EngineEvent, database: string): string {
  return JSON.stringify({
    type,
    timestamp: new Date(at).toISOString(),
    data: { ...data, database },
  });
}
