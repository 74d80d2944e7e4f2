import { LRUCache } from 'lru-cache';
import { attachmentOf } from '../../model/big-result.js';
import type { LiveJob } from '../../model/job.js';
import type { Log } from '../log.js';
import { readJson } from '../../store/exchange.js';
import type { Retry } from '../retry.js';
import type { Store } from '../../store/store.js';

/** The contents of attachments that hold results. */
export type ResultAttachments = {
  /**
   * The results by the attachment's name. For an attachment that is gone the reference stands for
   * itself: what needs the result fails and says so. Undefined when the engine ends first.
   */
  readonly of: (
    job: LiveJob,
    names: readonly string[],
  ) => Promise<ReadonlyMap<string, unknown> | undefined>;
};

/** So many bytes of JSON are kept at hand, of the results that were used last. */
const usualBytes = 64 * 1024 * 1024;

type Read = { readonly value: unknown };
/** Undefined: there is none. */
type Text = { readonly text: string | undefined };
type Stub = { readonly digest?: unknown };

export type ResultAttachmentsParts = {
  readonly store: Pick<Store, 'attachment'>;
  readonly retry: Retry;
  /** How many copies the database keeps of a document. */
  readonly copies: () => number;
  /** Waits before all copies are asked once more, after so many times in vain. */
  readonly rest: (tries: number) => Promise<void>;
  readonly log: Log;
};

/** How often all copies are asked for an attachment that the document lists before it counts as gone. */
const mostAsks = 8;

/** Reads results from attachments and keeps those at hand that were used last. */
export function createResultAttachments(
  { store, retry, copies, rest, log }: ResultAttachmentsParts,
  mostBytes = usualBytes,
): ResultAttachments {
  const kept = new LRUCache<string, Read>({ maxSize: mostBytes });
  const read = async (job: LiveJob, name: string): Promise<Read | undefined> => {
    const { digest } = (job._attachments?.[name] ?? {}) as Stub;
    const key = `${job._id}/${name}/${String(digest)}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const answer = await textOf(job, name);
    if (answer === undefined) return undefined;
    const { text } = answer;
    // Somebody may have put anything in the place of a result.
    const value = text === undefined ? undefined : await readJson(text);
    if (value === undefined) {
      log.warn({ job: job._id, attachment: name }, `Attachment ${name} cannot be read.`);
      return { value: referenceOf(job, name) };
    }
    kept.set(key, { value }, { size: Buffer.byteLength(text ?? '') });
    return { value };
  };
  /**
   * Where there are several copies, those that have an attachment may be away for a while, and the
   * others say that there is none.
   */
  const textOf = async (job: LiveJob, name: string): Promise<Text | undefined> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await retry(async () => ({ text: await readFrom(job, name) }));
      if (answer?.text !== undefined || answer === undefined) return answer;
      const mayBeAway = copies() > 1 && job._attachments?.[name] !== undefined;
      if (!mayBeAway || tries === mostAsks) return answer;
      await rest(tries);
    }
  };
  /** A copy may be behind: all of them are asked before a result counts as gone. */
  const readFrom = async (job: LiveJob, name: string): Promise<string | undefined> => {
    const text = await store.attachment(job._id, name);
    if (text !== undefined || copies() === 1 || job._rev === undefined) return text;
    return store.attachment(job._id, name, { rev: job._rev, copies: copies() });
  };
  return {
    of: async (job, names) => {
      const contents = new Map<string, unknown>();
      for (const name of new Set(names)) {
        const answer = await read(job, name);
        if (answer === undefined) return undefined;
        contents.set(name, answer.value);
      }
      return contents;
    },
  };
}

function referenceOf(job: LiveJob, name: string): unknown {
  return job.steps.find((step) => attachmentOf(step) === name)?.['result'] ?? null;
}
