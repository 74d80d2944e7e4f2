import { z } from 'zod';
import { openDatabase } from '../../client.js';
import type { Config } from '../../config/load.js';
import { TwsError } from '../../errors.js';
import { defineCommand, type Invocation } from '../command.js';
import { checkDatabase } from '../doctor/database.js';
import { checkEgress, checkNode, checkPlugins, checkSettings } from '../doctor/machine.js';
import { serverFindings } from '../doctor/server.js';
import type { DoctorFinding } from '../doctor/finding.js';
import { loadProjectPlugins } from '../plugins.js';
import type { Io } from '../io.js';

/** `tws doctor`: looks at everything an engine needs; exit 1 when something has failed. */
export const doctor = defineCommand(z.object({}), async (called, io) => {
  const findings = await examine(called);
  for (const finding of findings) for (const line of linesOf(finding, io)) io.out(line);
  io.json({ findings });
  return findings.some(({ verdict }) => verdict === 'fail') ? 1 : 0;
});

async function examine({
  config: read,
}: Pick<Invocation, 'config'>): Promise<readonly DoctorFinding[]> {
  const config = settingsOf(read);
  if ('verdict' in config) return [checkNode(), config];
  const server = await serverFindings(config);
  const plugins = await loadProjectPlugins(config.plugins);
  const findings = [
    checkNode(),
    ...checkSettings(config),
    checkEgress(config),
    ...checkPlugins(plugins),
    ...server.findings,
  ];
  if (!server.usable) return findings;
  const { client, close } = openDatabase(config);
  try {
    return [...findings, ...(await checkDatabase(client, config, plugins))];
  } finally {
    await close();
  }
}

function settingsOf(read: () => Config): Config | DoctorFinding {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    return { what: 'settings', verdict: 'fail', says: error.message, todo: error.hint };
  }
}

function linesOf({ verdict, what, says, todo }: DoctorFinding, io: Io): readonly string[] {
  const colour = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
  const line = `${io.style(colour[verdict], verdict.padEnd(4))}  ${what}: ${says}`;
  return todo === undefined ? [line] : [line, `      ${todo}`];
}
