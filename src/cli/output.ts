/** The streams that a command prints to. */
type Output = Pick<NodeJS.WriteStream, 'write' | 'on'>;

/** What the system says when nobody reads any more: a pipe was closed, a terminal hung up. */
const closed = new Set(['EPIPE', 'EIO', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);
const gone = new WeakSet<Output>();

/** Prints text, unless the reader of the stream has left. */
export function print(stream: Output, text: string): void {
  if (!gone.has(stream)) stream.write(text);
}

/**
 * Lets a reader leave early, as `head` does: nothing more is printed to it, and that is no error.
 * `onGone` is called once. On the stream for complaints no error can be told at all.
 */
export function letReaderLeave(
  stream: Output,
  { isForErrors, onGone }: { readonly isForErrors: boolean; readonly onGone: () => void },
): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!isForErrors && !closed.has(error.code ?? '')) throw error;
    if (gone.has(stream)) return;
    gone.add(stream);
    onGone();
  });
}
