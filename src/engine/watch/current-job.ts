/** Called with the id of the job that this thread works on; undefined: it has left off. */
export type OnDecide = (job: string | undefined) => void;

/** Does something about a job that takes no turn of the event loop, so that a watchdog can name the job. */
export function withCurrentJob<T>(onDecide: OnDecide | undefined, job: string, work: () => T): T {
  if (onDecide === undefined) return work();
  onDecide(job);
  try {
    return work();
  } finally {
    onDecide(undefined);
  }
}

/** The longest id that is passed to a watchdog, bytes; CouchDB takes longer ones, which are not named. */
const longestId = 2_000;

/** The job on which a thread works, for another thread that goes on when the first one does not. */
export function createNotice(): { readonly shared: SharedArrayBuffer; readonly write: OnDecide } {
  const shared = new SharedArrayBuffer(2 + longestId);
  const notice = Buffer.from(shared);
  return {
    shared,
    write: (job) => {
      const bytes = job === undefined ? 0 : Buffer.byteLength(job);
      if (job !== undefined && bytes <= longestId) notice.write(job, 2);
      notice.writeUInt16LE(bytes > longestId ? 0 : bytes, 0);
    },
  };
}

/** `notice`: what `createNotice` shares. */
export function readNotice(notice: Buffer): string | undefined {
  const bytes = notice.readUInt16LE(0);
  return bytes === 0 ? undefined : notice.toString('utf8', 2, 2 + bytes);
}
