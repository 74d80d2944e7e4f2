/** A reader of server-sent events. */
export type TestStream = {
  readonly status: number;
  readonly headers: Headers;
  /** The next event; undefined when the stream has ended. Comments are left out. */
  readonly next: () => Promise<ServerEvent | undefined>;
  /** The next one that is as wanted. */
  readonly until: (wanted: (event: ServerEvent) => boolean) => Promise<ServerEvent>;
  readonly close: () => void;
};

export type ServerEvent = {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
};

/** Opens a stream; whoever does not read it slows it down. */
export async function openStream(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestStream> {
  const end = new AbortController();
  const reply = await fetch(url, { headers: { ...headers }, signal: end.signal });
  const events = eventsOf(reply);
  const next = async (): Promise<ServerEvent | undefined> => {
    const { value } = await events.next();
    return value ?? undefined;
  };
  return {
    status: reply.status,
    headers: reply.headers,
    next,
    until: async (wanted) => {
      for (;;) {
        const event = await next();
        if (event === undefined) throw new Error('The stream has ended.');
        if (wanted(event)) return event;
      }
    },
    close: () => end.abort(),
  };
}

async function* eventsOf(reply: Response): AsyncGenerator<ServerEvent, void, undefined> {
  let text = '';
  try {
    for await (const chunk of (reply.body as ReadableStream<Uint8Array>).pipeThrough(
      new TextDecoderStream(),
    ) as AsyncIterable<string>) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block.split('\n').map((line) => {
            const at = line.indexOf(':');
            return [line.slice(0, at), line.slice(at + 1).trim()];
          }),
        ) as Record<string, string>;
        if (fields['event'] === undefined) continue;
        const data = JSON.parse(fields['data'] ?? '{}') as Record<string, unknown>;
        yield { event: fields['event'], id: fields['id'] ?? '', data };
      }
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
  }
}
