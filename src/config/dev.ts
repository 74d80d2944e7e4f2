import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { text } from './values.js';

/** What `tws dev` leaves in its folder so that a second terminal needs no settings. */
export const embeddedFileSchema = z.looseObject({
  url: text,
  user: text,
  password: text,
  database: text,
  app: text,
  pid: z.int(),
  /** Address of its API, where it serves one. */
  http: text.optional(),
});
export type EmbeddedFile = z.infer<typeof embeddedFileSchema>;

/** The server that `tws dev` of this project keeps running, or undefined. */
export function runningDev(dir: string): EmbeddedFile | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(join(dir, 'embedded.json'), 'utf8'));
    const parsed = embeddedFileSchema.safeParse(content);
    if (!parsed.success) return undefined;
    process.kill(parsed.data.pid, 0);
    return parsed.data;
  } catch {
    return undefined;
  }
}
