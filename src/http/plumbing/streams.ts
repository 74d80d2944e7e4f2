import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import type { Streaming } from '../route.js';

/**
 * Sends an answer that goes on. Whoever reads slowly slows the writer down, not the memory up. What
 * goes wrong before the first text is thrown, and can be answered; later it ends the stream.
 */
export async function sendStream(
  reply: FastifyReply,
  { type, stream }: Streaming,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const { raw } = reply;
  let begun = false;
  const begin = (): void => {
    begun = true;
    const headers = { ...reply.getHeaders(), 'content-type': `${type}; charset=utf-8` };
    reply.hijack();
    // A proxy that gathers an answer before it passes it on would hold all of it back.
    raw.writeHead(200, { ...headers, 'x-accel-buffering': 'no' } as Record<string, string>);
  };
  const write = async (text: string): Promise<void> => {
    if (!begun) begin();
    if (text === '' || signal.aborted || raw.write(text)) return;
    await once(raw, 'drain', { signal }).catch(() => undefined);
  };
  try {
    await stream({ write });
  } catch (error) {
    if (!begun) throw error;
  }
  if (!begun) begin();
  raw.end();
  return reply;
}
