import { hostname } from 'node:os';
import type { EngineDocument } from '../../model/engine.js';
import type { StoredDocument } from '../../model/document.js';
import type { WriteResult } from '../../store/batch.js';
import type { Store } from '../../store/store.js';
import type { PluginRegistry } from '../../plugin/loader.js';
import { shortened } from '../../words.js';
import { taken } from './name.js';

/** What an engine says of itself in its document. */
export type Presence = {
  /** Stores its document in the place of the one that a dead engine of its name left behind. */
  readonly begin: (former: StoredDocument | undefined) => Promise<void>;
  /**
   * Stores the document anew. Resolves when the store has it, rejects when it is not known to, and
   * with `engine_name_taken` when another engine has taken its place.
   */
  readonly renew: () => Promise<void>;
  /** When it last wrote its document, or tried to (epoch ms). */
  readonly renewedAt: () => number;
  /** Says which plugins it has from now on. */
  readonly offer: (offered: OfferedPlugins) => Promise<void>;
  /** Says whether it takes new work for now. */
  readonly enable: (enabled: boolean) => Promise<void>;
  /** Says that it takes no more work. */
  readonly drain: () => Promise<void>;
  /** Removes the document: the engine has ended in order. */
  readonly leave: () => Promise<void>;
};

/** The plugins of an engine: those that it can run, and why it cannot load others. */
export type OfferedPlugins = Pick<EngineDocument, 'plugins' | 'broken'>;

export type PresenceFacts = Pick<
  EngineDocument,
  'plugins' | 'broken' | 'labels' | 'queues' | 'slots' | 'version' | 'renew_ms'
> & {
  readonly id: string;
  readonly pid: number;
};

/** A lost answer, or somebody who removed the document of an engine thought dead, stands in the way. */
const mostTries = 5;

function causeOf(result: Exclude<WriteResult, { kind: 'written' }>): string {
  switch (result.kind) {
    case 'conflict':
      return 'others write it, too';
    case 'refused':
      return result.reason;
    case 'unknown':
      return result.cause;
  }
}

/** Keeps the document `engine:<id>` of this process. */
export function createPresence(store: Store, facts: PresenceFacts, now: () => number): Presence {
  const { id, plugins, broken, ...shown } = facts;
  let rev: string | undefined;
  let beat = 0;
  let renewed = now();
  let state: EngineDocument['state'] = 'running';
  let offered: OfferedPlugins = { plugins, ...(broken && { broken }) };
  const started = now();
  const fixed = { _id: id, type: 'engine', host: hostname(), ...shown, started } as const;
  /** One try; why not when the document was removed or its revision is not known any more. */
  const tryWrite = async (): Promise<'stored' | { readonly cause: string }> => {
    beat += 1;
    renewed = now();
    const doc: EngineDocument = { ...fixed, ...offered, renewed, beat, state };
    const result = await store.write(rev === undefined ? doc : { ...doc, _rev: rev });
    if (result.kind === 'written') {
      rev = result.rev;
      return 'stored';
    }
    const stored = await store.get(id);
    const isOurs = stored?.['started'] === started && stored['pid'] === shown.pid;
    // A revision that we know of is one of ours, or the one that we were to replace.
    if (stored !== undefined && !isOurs && stored._rev !== rev) throw taken(id, stored);
    rev = stored?._rev;
    return isOurs && stored?.['beat'] === beat ? 'stored' : { cause: causeOf(result) };
  };
  const write = async (): Promise<void> => {
    let cause = '';
    for (let tries = 0; tries < mostTries; tries += 1) {
      const end = await tryWrite();
      if (end === 'stored') return;
      ({ cause } = end);
    }
    throw new Error(`The document ${id} was not stored (${cause}).`);
  };
  return {
    begin: (former) => {
      rev = former?._rev;
      beat = Number(former?.['beat']) || 0;
      return write();
    },
    renew: write,
    renewedAt: () => renewed,
    offer: async (now) => {
      offered = now;
      if (beat > 0) await write().catch(() => undefined);
    },
    enable: async (enabled) => {
      if (state === 'draining') return;
      state = enabled ? 'running' : 'disabled';
      // Before its document is there, and when this is not stored, the next renewal says it.
      if (beat > 0) await write().catch(() => undefined);
    },
    drain: async () => {
      state = 'draining';
      if (beat === 0) return;
      // Without it the engine is only asked in vain for a while.
      await write().catch(() => undefined);
    },
    leave: async () => {
      if (rev !== undefined) await store.remove(id, rev);
    },
  };
}

/** Bounds of what a document of an engine says of broken plugins. */
const mostBroken = 50;
const longestReason = 500;

/** What an engine says of its plugins: which it can run, and why it cannot load others. */
export function offeredOf({ names, list }: Pick<PluginRegistry, 'names' | 'list'>): OfferedPlugins {
  const broken = list().flatMap(({ name, problem }): [string, string][] =>
    problem === undefined ? [] : [[name, shortened(problem, longestReason)]],
  );
  const plugins = [...names()];
  if (broken.length === 0) return { plugins };
  return { plugins, broken: Object.fromEntries(broken.slice(0, mostBroken)) };
}
