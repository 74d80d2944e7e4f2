import type { CachedFound } from '../../decide/world.js';
import { attachmentWith } from '../../model/big-result.js';
import {
  cachedAttachment,
  cachedResultSchema,
  type CachedResultDocument,
} from '../../model/cached-result.js';
import { ownerOf } from '../../model/task.js';
import type { StoredDocument } from '../../model/document.js';
import { readJson } from '../../store/exchange.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../log.js';
import type { Outcome } from '../../decide/finish/outcome.js';
import type { LiveStep } from '../../model/step.js';
import { bigResult } from './large-results.js';

/** Reads a result that is kept. What cannot be read counts as none: the step runs. */
export async function readCached(
  store: Pick<Store, 'get' | 'attachment'>,
  id: string,
): Promise<CachedFound> {
  const { data } = cachedResultSchema.safeParse(await store.get(id));
  if (data === undefined) return { kind: 'absent' };
  const { job, path, at, until, result } = data;
  const found = { kind: 'found', from: { job, path, at }, until } as const;
  if (!('large' in data)) return { ...found, ...('result' in data ? { result } : {}) };
  const text = await store.attachment(id, cachedAttachment);
  const value = text === undefined ? undefined : await readJson(text);
  if (value === undefined) return { kind: 'absent' };
  const big = bigResult(value);
  return big === undefined ? { ...found, result: value } : { ...found, result: value, big };
}

type Parts = { readonly store: Store; readonly log: Log; readonly now: () => number };

/**
 * Keeps the results of attempts whose end is stored in the job. A result that lives is left as it is: of two steps
 * that ran at the same time the first one counts. Never rejects: what is not kept is worked out again.
 */
export async function keepResults(
  { store, log, now }: Parts,
  job: StoredDocument,
  ended: readonly { readonly step: LiveStep; readonly outcome: Outcome }[],
): Promise<void> {
  for (const { step, outcome } of ended) {
    const { cache, path, task, claim } = step;
    const stored = (job['steps'] as readonly Readonly<Record<string, unknown>>[]).find(
      (one) => one['claim'] === claim && one['state'] === '$$complete',
    );
    const isDone = outcome.kind === 'done' && (outcome.exit ?? 0) === 0;
    if (cache === undefined || stored === undefined || !isDone) continue;
    const { big, result } = outcome;
    const at = now();
    const doc: CachedResultDocument & { readonly _id: string } = {
      ...{ _id: cache.id, type: 'cached-result', owner: ownerOf(job), task, job: job._id, path },
      ...{ at, until: at + cache.ttl },
      ...(big === undefined
        ? { ...(result === undefined ? {} : { result }) }
        : { large: true, _attachments: { [cachedAttachment]: attachmentWith(big) } }),
    };
    try {
      const before = await store.get(cache.id);
      if (Number(before?.['until'] ?? 0) > at) continue;
      await store.write(before === undefined ? doc : { ...doc, _rev: before._rev });
    } catch (error) {
      log.warn({ job: job._id, error: String(error) }, `A result of task ${task} is not kept.`);
    }
  }
}
