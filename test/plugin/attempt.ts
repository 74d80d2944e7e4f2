import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PluginOutcome } from '../../src/plugin/api.js';
import type { Attribution } from '../../src/plugin/attribution.js';
import { createContext, type ContextInput } from '../../src/plugin/context.js';
import { loadPlugins, type PluginRegistry } from '../../src/plugin/loader.js';
import { runPlugin } from '../../src/plugin/run.js';

export type Said = { readonly message: string; readonly data?: unknown };

/** A folder that is gone after the test, with these files in it. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'tws-plugin-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** A registry of these plugin files (and the shipped ones), and what loading said. */
export async function pluginsOf(
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly registry: PluginRegistry; readonly said: Said[] }> {
  const said: Said[] = [];
  const registry = await loadPlugins({
    folders: [folderWith(files)],
    log: (message, data) => void said.push({ message, data }),
  });
  return { registry, said };
}

export type AttemptOptions = Partial<ContextInput> & {
  readonly verify?: boolean;
  readonly attribution?: Attribution;
};
export type Attempted = PluginOutcome & {
  readonly said: Said[];
  readonly heartbeats: unknown[];
  readonly progressed: unknown[];
};

/** Makes one attempt of a plugin with these parameters. */
export async function attempt(
  registry: PluginRegistry,
  name: string,
  params: Record<string, unknown> = {},
  { verify = false, attribution, ...input }: AttemptOptions = {},
): Promise<Attempted> {
  const plugin = registry.get(name);
  if (plugin === undefined) throw new Error(`There is no plugin ${name}.`);
  const said: Said[] = [];
  const heartbeats: unknown[] = [];
  const progressed: unknown[] = [];
  const { context, redact } = createContext({
    params,
    job: { _id: 'job-1', type: 'job', flow: 'f' },
    step: { index: 0, name: 's', attempt: 1 },
    results: {},
    signal: new AbortController().signal,
    log: (message, data) => void said.push({ message, data }),
    heartbeat: (details) => {
      heartbeats.push(details);
      return input.signal?.aborted ?? false;
    },
    progress: (progress) => void progressed.push(progress),
    key: 'job-1/s/0',
    cwd: process.cwd(),
    ...input,
  });
  const outcome = await runPlugin(plugin, context, { redact, verify, attribution });
  return { ...outcome, said, heartbeats, progressed };
}
