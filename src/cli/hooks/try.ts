import { randomUUID } from 'node:crypto';
import { proofOf, type Client, type DeliveryOutcome } from '../../client.js';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { dedupeHeader, type Hook } from '../../model/hook.js';
import { parseDocument } from '../../reading/parse.js';
import { hookPath } from '../../reading/hook.js';
import type { Io } from '../io.js';
import { hookOpener } from './open.js';

/** What a trial of a hook delivers. */
export type Trial = {
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
};

/** The hook in a document. @throws TwsError `document_invalid` */
export function readHook(doc: StoredDocument): Hook {
  const parsed = parseDocument(doc);
  if (parsed.kind === 'hook' && parsed.ok) return parsed.value;
  const [first, ...others] = parsed.kind === 'hook' && !parsed.ok ? parsed.problems : [];
  const found = { kind: 'hook', first: String(first?.message), more: others.length };
  throw problem('document_invalid', found);
}

/** Prints what a delivery would start; nothing is stored. Answers the exit status: 3 where it cannot be followed. */
export async function judgeTrial(
  client: Client,
  hook: Hook,
  trial: Trial,
  io: Io,
): Promise<number> {
  const { data: body, headers, query } = trial;
  const name = headers[dedupeHeader(hook) ?? ''] ?? 'test';
  const outcome = await client.judgeDelivery(hook, { name, body, headers, query });
  io.json(outcome);
  return printOutcome(outcome, io);
}

function printOutcome(outcome: DeliveryOutcome, io: Io): number {
  switch (outcome.kind) {
    case 'ignore':
      io.out('ignored: match does not hold, so it starts no job');
      return 0;
    case 'start': {
      const { _id: id, started_by: _by, ...job } = outcome.job;
      io.out(`starts: ${id}`);
      io.block(JSON.stringify(job, null, 2));
      return 0;
    }
    case 'refuse':
      io.fail(`refused: ${outcome.reason}`);
      return 3;
  }
}

type Sending = {
  readonly doc: StoredDocument;
  readonly hook: Hook;
  readonly trial: Trial;
  /** Address of the server: `http://127.0.0.1:5985`. */
  readonly server: string;
};

/**
 * Delivers to a server as a sender that has the secret would. Answers the exit status: 1 for any answer but
 * a good one. @throws TwsError `hook_unreachable`, and those of secrets
 */
export async function sendTrial(
  { doc, hook, trial, server }: Sending,
  config: Pick<Config, 'cryptoKey' | 'olderSecrets'>,
  io: Io,
): Promise<number> {
  const raw = Buffer.from(JSON.stringify(trial.data ?? null));
  const [secret = ''] = await hookOpener(config)(doc, hook);
  const id = trial.headers[dedupeHeader(hook) ?? ''] ?? randomUUID();
  const signing = { raw, now: Date.now(), id };
  const proof = hook.check === 'none' ? none : proofOf(hook.check, secret, signing);
  const named = dedupeHeader(hook);
  const url = new URL(`${server.replace(/\/$/, '')}${hookPath(doc)}`);
  for (const [key, value] of Object.entries({ ...trial.query, ...proof.query })) {
    url.searchParams.set(key, value);
  }
  const headers = {
    'content-type': 'application/json',
    ...(named === undefined ? {} : { [named]: id }),
    ...trial.headers,
    ...proof.headers,
  };
  const answer = await fetch(url, { method: 'POST', headers, body: raw }).catch(
    (error: unknown) => {
      const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
      throw problem('hook_unreachable', {
        server,
        reason: cause?.code ?? cause?.message ?? 'no answer',
      });
    },
  );
  const text = await answer.text();
  io.out(`${answer.status}: ${text}`);
  io.json({ status: answer.status, body: text });
  return answer.ok ? 0 : 1;
}

const none = { headers: {}, query: {} };
