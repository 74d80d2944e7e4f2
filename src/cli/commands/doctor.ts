import { z } from 'zod';
import { openDatabase } from '../../client.js';
import type { Config } from '../../config/load.js';
import { TwsError } from '../../errors.js';
import { defineCommand, switchFlag } from '../command.js';
import { checkDatabase } from '../doctor/database.js';
import { costOfGuard } from '../doctor/guard-cost.js';
import { checkEgress, checkNode, checkPlugins, checkSettings } from '../doctor/machine.js';
import { clockFindings, serverFindings } from '../doctor/server.js';
import type { DoctorFinding } from '../doctor/finding.js';
import { loadProjectPlugins } from '../plugins.js';
import type { Io } from '../io.js';

const flags = z.object({ measure: switchFlag });

/**
 * `tws doctor`: looks at everything an engine needs; exit 1 when something has failed. With `--measure`
 * it also writes to databases that it makes for this: what the guard costs here.
 */
export const doctor = defineCommand(flags, async ({ flags: { measure }, ...called }, io) => {
  const config = settingsOf(called.config);
  const examined = await examine(config);
  const measured = measure && !('verdict' in config) ? await costOfGuard(config) : undefined;
  const findings = [...examined, ...(measured === undefined ? [] : [measured.finding])];
  for (const finding of findings) for (const line of linesOf(finding, io)) io.out(line);
  io.json({ findings, ...(measured?.cost === undefined ? {} : { guard: measured.cost }) });
  return findings.some(({ verdict }) => verdict === 'fail') ? 1 : 0;
});

async function examine(config: Config | DoctorFinding): Promise<readonly DoctorFinding[]> {
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
    const clock = await clockFindings(config);
    return [...findings, ...clock, ...(await checkDatabase(client, config, plugins))];
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
