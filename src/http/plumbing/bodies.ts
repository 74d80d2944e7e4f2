import type { FastifyInstance } from 'fastify';
import { problem } from '../../errors.js';

/** Deeper JSON is refused before anything walks it call by call. */
const deepest = 200;

/** Media types of bodies that are understood. */
export const mediaTypes = ['application/json', 'application/x-ndjson'] as const;

/**
 * Reads JSON and NDJSON, and nothing else. Names that would reach into the prototype of an object
 * are refused.
 */
export function acceptBodies(app: FastifyInstance, bodyLimit: number): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  const parseText = (text: string): unknown => {
    let value: unknown;
    let failed: Error | null = null;
    // The parser calls back at once.
    void parse({} as never, text, (error: Error | null, body?: unknown) => {
      failed = error;
      value = body;
    });
    if (failed !== null) throw problem('json_invalid', { reason: reasonOf(failed) });
    if (isDeep(value))
      throw problem('json_invalid', { reason: `it is nested deeper than ${deepest} levels.` });
    return value;
  };
  const asText = { parseAs: 'string', bodyLimit } as const;
  app.addContentTypeParser('application/json', asText, (_request, text: string, done) => {
    settle(done, () => (text.trim() === '' ? undefined : parseText(text)));
  });
  app.addContentTypeParser('application/x-ndjson', asText, (_request, text: string, done) => {
    settle(done, () => parseLines(text, parseText));
  });
}

type Done = (error: Error | null, body?: unknown) => void;

function settle(done: Done, read: () => unknown): void {
  try {
    done(null, read());
  } catch (error) {
    done(error as Error);
  }
}

/** One document in each line; empty lines do not count. */
function parseLines(text: string, parse: (line: string) => unknown): readonly unknown[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      return [parse(line)];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw problem('json_invalid', { reason: `line ${i + 1}: ${reason}` });
    }
  });
}

function reasonOf({ message }: Error): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** Whether a value is nested too deep; looks level by level, never call by call. */
function isDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return true;
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? (Object.values(one) as unknown[]) : [],
    );
  }
  return false;
}
