import { PluginError, type FetchAnswer } from '../../src/plugin/index.js';

/** Reads a response's body; one of more than `most` bytes throws `HttpAnswerTooLarge`. */
export async function readLimited({ body, status }: FetchAnswer, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > most) {
      throw new PluginError(`The answer is larger than ${most} bytes (max_bytes).`, {
        name: 'HttpAnswerTooLarge',
        code: status,
        retryable: false,
      });
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
