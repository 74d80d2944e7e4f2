import { replicate, type ReplicationPeer, type ReplicationProgress } from '../../replicator.js';
import { serverUrl, type Connection } from '../../store/connection.js';
import { addressOf, movedId } from '../../store/moved.js';

/** From where to where documents are copied, and what ends that. */
export type Copying = {
  readonly from: Connection;
  readonly to: Connection;
  readonly signal: AbortSignal;
  /** Looks at all documents, whatever was copied before. */
  readonly anew?: boolean;
};

/**
 * Replicates what has changed since the last time, but for the mark of a move and the documents that are left out.
 * Resolves with how many documents were written.
 */
export async function copyChanges(
  { from, to, signal, anew = false }: Copying,
  told: (written: number, docs: NonNullable<ReplicationProgress['docs']>) => void,
  leftOut: readonly string[] = [],
): Promise<number> {
  const running = replicate(
    peerOf(from),
    peerOf(to),
    {
      ...{ live: false, retry: false, selector: { _id: { $nin: [movedId, ...leftOut] } } },
      ...(anew ? { since: '0' } : {}),
    },
    ({ docs_written: written, docs = [] }) => told(written, docs),
  );
  const stop = (): void => running.cancel();
  signal.addEventListener('abort', stop);
  try {
    const { docs_written: written, doc_write_failures: failures } = await running.done;
    signal.throwIfAborted();
    if (failures > 0) throw new Error(`${failures} documents were refused by ${addressOf(to)}.`);
    return written;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function peerOf(connection: Connection): ReplicationPeer {
  const { user, password = '', database } = connection;
  const url = `${serverUrl(connection)}/${encodeURIComponent(database)}`;
  return user === undefined ? { url } : { url, auth: { username: user, password } };
}
