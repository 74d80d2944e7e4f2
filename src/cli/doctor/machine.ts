import type { Config } from '../../config/load.js';
import type { PluginRegistry } from '../../plugin/loader.js';
import { installCommand } from '../paths.js';
import { reasonOf } from '../lines.js';
import type { DoctorFinding } from './finding.js';

/** The oldest Node.js this package runs on. */
const oldest = [20, 17] as const;

/** Whether Node.js is new enough. */
export function checkNode(version = process.versions.node): DoctorFinding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fits = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  if (fits) return { what: 'Node.js', verdict: 'ok', says: version };
  const says = `${version} is too old.`;
  return { what: 'Node.js', verdict: 'fail', says, todo: `Install ${oldest.join('.')} or newer.` };
}

/** Where the settings come from, and what should not be among them. */
export function checkSettings(config: Config): readonly DoctorFinding[] {
  const { file, url, database, origins } = config;
  const says = `${file ?? 'no tws.json'}; database ${database} (${origins['database'] ?? ''}) at ${url} (${origins['url'] ?? ''})`;
  const found: DoctorFinding = { what: 'settings', verdict: 'ok', says };
  if (origins['password'] !== 'tws.json' || config.password === undefined) return [found];
  return [
    found,
    {
      what: 'password',
      verdict: 'warn',
      says: 'It stands in tws.json, where everybody who can read the project sees it.',
      todo: 'Move it to COUCH_PASS (and the name to COUCH_USER).',
    },
  ];
}

/** Which addresses the shipped plugins and webhooks may reach. */
export function checkEgress({ egress: { allow, deny, exposed } }: Config): DoctorFinding {
  const inside = exposed
    ? 'this machine and private networks are closed, since the API can be reached from outside'
    : 'this machine and private networks are open, since the API is bound to this machine';
  const lists = [
    ...(allow.length === 0 ? [] : [`allowed: ${allow.join(', ')}`]),
    ...(deny.length === 0 ? [] : [`denied: ${deny.join(', ')}`]),
  ];
  const says = [`link-local and metadata addresses are closed; ${inside}`, ...lists].join('; ');
  return { what: 'egress', verdict: 'ok', says };
}

/** A plugin may import `tws/plugin`, which a global installation does not bring into the project. */
function todoOf(problem: string | undefined): string {
  return problem?.includes("Cannot find package 'tws'") === true
    ? `Install tws in the project, which the plugin imports: ${installCommand()}`
    : 'Mend the file or remove it; its tasks run on other engines only.';
}

/** Which plugins can be called, and why others cannot. */
export function checkPlugins(registry: PluginRegistry): readonly DoctorFinding[] {
  const broken = registry.list().filter(({ state }) => state === 'broken');
  const names = registry.names();
  return [
    { what: 'plugins', verdict: 'ok', says: `${names.length} ready: ${names.join(', ')}` },
    ...broken.map(({ name, file, problem }): DoctorFinding => ({
      what: `plugin ${name}`,
      verdict: 'fail',
      says: `${file} cannot be loaded: ${reasonOf({ name, file, problem })}`,
      todo: todoOf(problem),
    })),
  ];
}
