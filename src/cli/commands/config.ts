import { z } from 'zod';
import { defineCommand } from '../command.js';

/** `tws config`: every setting with its source; credentials are shown as `***`. */
export const showConfig = defineCommand(z.object({}), async ({ config: read }, io) => {
  const { root, file, shown } = read();
  io.out(`project: ${root}${file === undefined ? ' (no tws.json)' : ''}`);
  for (const [name, { value, from }] of Object.entries(shown)) {
    io.out(`${name}: ${textOf(value)} ${io.style('dim', `(${from})`)}`.replace('  ', ' '));
  }
  io.json({ root, file: file ?? null, settings: shown });
  return 0;
});

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  return isList ? value.join(', ') : JSON.stringify(value);
}
