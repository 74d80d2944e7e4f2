import type { StoredDocument } from '../../../src/model/document.js';

type Leased = { readonly signal: string; readonly until: number };

/** Watches the jobs that are stored for steps that are handed out while somebody else has them. */
export function watchLeases(now: () => number) {
  const leases = new Map<string, Map<string, Leased>>();
  const found: string[] = [];
  return {
    /** A sentence for each step that was handed out twice. */
    found,
    stored: (doc: Pick<StoredDocument, '_id'>): void => {
      const { _id: id } = doc;
      const { steps = [] } = doc as {
        readonly steps?: readonly Readonly<Record<string, unknown>>[];
      };
      for (const { path, signal, until } of steps) {
        if (typeof signal !== 'string' || !signal.startsWith('lease/')) continue;
        const place = `${id} ${String(path)}`;
        const known = leases.get(place) ?? new Map<string, Leased>();
        leases.set(place, known);
        const isNew = !known.has(signal);
        for (const other of isNew ? known.values() : []) {
          const before = steps.find(
            (one) => one['path'] === path && one['signal'] === other.signal,
          );
          const isAnswered = before?.['signal_id'] !== undefined;
          if (isAnswered || other.until <= now()) continue;
          found.push(`${place} is handed out while the lease ${other.signal} has not ended.`);
        }
        if (isNew) known.set(signal, { signal, until: Number(until) });
      }
    },
  };
}
