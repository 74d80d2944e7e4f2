import { writeFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { z } from 'zod';
import { openDatabase } from '../../client.js';
import { problem } from '../../errors.js';
import { layout } from '../../picture/layout.js';
import { mermaidOf } from '../../picture/mermaid.js';
import { pictureOf } from '../../picture/picture-of.js';
import { svgOf } from '../../picture/svg.js';
import { defineCommand } from '../command.js';
import { graphFormats } from '../program/options.js';
import { fromDatabase, fromFile, isFileName, type Drawn } from '../graph-source.js';

type Format = (typeof graphFormats)[number];

const flags = z.object({
  format: z.enum(graphFormats, { error: `must be one of ${graphFormats.join(', ')}` }).optional(),
  out: z.string().min(1, { error: 'must name a file' }).optional(),
});

/** `tws graph`: a flow, or a job with the states of its steps, as a picture. */
export const graph = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const config = read();
  const given = args[0] ?? '';
  const drawn = isFileName(given, io, config) ? await fromFile(given, io, config) : await stored();
  const format = said.format ?? formatOf(said.out) ?? (io.mode === 'json' ? 'json' : 'mermaid');
  const text = render(drawn, format);
  if (said.out === undefined) {
    if (io.mode === 'json') io.json(format === 'json' ? pictured(drawn) : { format, text });
    else io.block(text.trimEnd());
    return 0;
  }
  await save(resolve(io.cwd, said.out), said.out, text);
  io.say(`${drawn.title} is drawn in ${said.out}.`);
  io.json({ file: said.out, format });
  return 0;

  async function stored(): Promise<Drawn> {
    const { client, close } = openDatabase(config);
    try {
      return await fromDatabase(given, client, io);
    } finally {
      await close();
    }
  }
});

function pictured({ title, tree, about }: Drawn): object {
  const { width, height, nodes, frames, edges } = layout(pictureOf(tree, about));
  return { title, width, height, nodes, frames, edges };
}

function render(drawn: Drawn, format: Format): string {
  const { title, tree, about } = drawn;
  switch (format) {
    case 'mermaid':
      return mermaidOf(pictureOf(tree, about));
    case 'svg':
      return svgOf(pictureOf(tree, about), { title });
    case 'json':
      return `${JSON.stringify(pictured(drawn), null, 2)}\n`;
  }
}

/** What the name of a file says about its content. */
function formatOf(file: string | undefined): Format | undefined {
  if (file === undefined) return undefined;
  const byExtension: Readonly<Record<string, Format>> = {
    '.svg': 'svg',
    '.json': 'json',
    '.mmd': 'mermaid',
    '.mermaid': 'mermaid',
  };
  return byExtension[extname(file).toLowerCase()];
}

async function save(path: string, shown: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw problem('file_unusable', { file: shown, reason: `it cannot be written (${code}).` });
  }
}
