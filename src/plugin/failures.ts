import type { EgressDenial } from './egress.js';
import { PluginError, type PluginErrorOptions } from './errors.js';

/** Exit of a step whose definition or parameters are wrong. */
export const exitDefinition = 3;

type Row<D> = { readonly say: (details: D) => string } & Omit<PluginErrorOptions, 'name'>;

const row = <D>(
  say: (details: D) => string,
  options: Omit<PluginErrorOptions, 'name'> = {},
): Row<D> => ({ say, ...options });

/** Wrong until somebody changes something: trying again cannot help. */
const definition = { retryable: false, exit: exitDefinition } as const;
const permanent = { retryable: false } as const;

/** Why an address is denied, and what an operator can do about it. */
const denials: Readonly<Record<EgressDenial, string>> = {
  setting: '"egress": {"deny": …} in tws.json names it.',
  metadata:
    'it is link-local, or tells a machine about itself; name it in "egress": {"allow": […]} in tws.json if it is meant.',
  private:
    'it is on this machine or in a private network, which is closed while the API can be reached from outside; name it in "egress": {"allow": […]} in tws.json if it is meant.',
};

/** Failures of steps that come from this folder rather than from a plugin: name -> sentence. */
const failures = {
  ParamsInvalid: row(
    (d: { plugin: string; problems: string }) =>
      `The parameters do not suit plugin ${d.plugin}: ${d.problems}.`,
    definition,
  ),
  ParamsUnchecked: row(
    (d: { plugin: string; reason: string }) =>
      `The parameters of plugin ${d.plugin} could not be checked: ${d.reason}.`,
  ),
  TemplateError: row(
    (d: { template: string; reason: string }) =>
      `The template "${d.template}" cannot be filled in: ${d.reason}.`,
    definition,
  ),
  SecretMissing: row(
    (d: { path: string }) => `The parameter ${d.path}, a secret, is missing or no text.`,
    definition,
  ),
  SecretUnreadable: row((d: { reason: string }) => d.reason, definition),
  SensitiveInvalid: row(
    (d: { given: string }) =>
      `context.sensitive() takes names of sensitive values (letters, digits, "-" and "_"), not ${d.given}.`,
    permanent,
  ),
  SensitiveUnset: row(
    (_: Readonly<Record<string, never>>) =>
      'There are no sensitive values for this attempt: engines of `tws start` and `tws dev` open them, and tests give them by `sensitive`.',
    definition,
  ),
  FileOutside: row(
    (d: { path: string; folder: string }) =>
      `The file "${d.path}" is outside the project ${d.folder} and the folders named in TWS_FILES.`,
    definition,
  ),
  FileHidden: row(
    (d: { path: string }) =>
      `The file "${d.path}" is not for jobs: names that begin with a dot, and tws.json, hold settings.`,
    definition,
  ),
  FileNotForWriting: row(
    (d: { path: string; folder: string }) =>
      `The file "${d.path}" is not for writing: jobs write below the folder ${d.folder} of the project only.`,
    definition,
  ),
  FileUnreadable: row(
    (d: { path: string; reason: string }) => `The file "${d.path}" cannot be read (${d.reason}).`,
    permanent,
  ),
  BodyMissing: row(
    () => 'There is nothing to store: the parameter body or file is missing.',
    definition,
  ),
  RedirectRefused: row(
    (d: { from: string; to: string }) =>
      `The redirect from ${d.from} to ${d.to} is not followed: the body of the request would go to another server; name that address in url if it is meant.`,
    permanent,
  ),
  EgressDenied: row(
    (d: { host: string; why: EgressDenial }) =>
      `The address of "${d.host}" may not be reached: ${denials[d.why]}`,
    definition,
  ),
  MissingPackage: row(
    (d: { package: string; plugin: string; folder: string }) =>
      `Plugin ${d.plugin} needs the package ${d.package}: run "npm install ${d.package}" in ${d.folder}.`,
    permanent,
  ),
  PackageBroken: row(
    (d: { package: string; plugin: string; reason: string }) =>
      `The package ${d.package}, which plugin ${d.plugin} needs, cannot be loaded: ${d.reason}`,
    permanent,
  ),
  // Another engine, or this one after a new start, may well be able to: the policy decides.
  PluginInitFailed: row(
    (d: { plugin: string; reason: string }) =>
      `Plugin ${d.plugin} cannot be used, because its init() failed: ${d.reason}`,
  ),
  NoPromise: row(
    (d: { plugin: string; got: string }) =>
      `Plugin ${d.plugin} must return a promise from (job, step, params); it returned ${d.got}.`,
    permanent,
  ),
  ResultNotJson: row(
    (d: { plugin: string; at: string; what: string }) =>
      `The result of plugin ${d.plugin} cannot be stored as JSON: ${d.at} is ${d.what}.`,
    permanent,
  ),
  ExitInvalid: row(
    (d: { code: string }) => `An exit must be a whole number from 0 to 255, not ${d.code}.`,
    permanent,
  ),
  DetailsInvalid: row(
    (d: { problem: string }) => `The details of a heartbeat cannot be kept: ${d.problem}.`,
    permanent,
  ),
  DataInvalid: row(
    (d: { problem: string }) => `The changes of job.data cannot be kept: ${d.problem}.`,
    permanent,
  ),
  DetourInvalid: row(
    (d: { maker: string; problem: string }) =>
      `context.${d.maker}() cannot be used like that: ${d.problem}.`,
    permanent,
  ),
  VerifyInvalid: row(
    (d: { plugin: string }) =>
      `The verify() of plugin ${d.plugin} must return {done: result}, {retry: ms}, {fail: message} or nothing.`,
    permanent,
  ),
  UncaughtInPlugin: row(
    (d: { plugin: string; name: string; message: string }) =>
      `Plugin ${d.plugin} threw where nobody could catch it: ${d.name}: ${d.message}`,
  ),
  ExitInPlugin: row(
    (d: { plugin: string }) =>
      `Plugin ${d.plugin} called process.exit, which would end the engine and all its steps; with export const isolate = 'process' it may.`,
    permanent,
  ),
  CodeNotAllowed: row(
    (d: { kind: 'script' | 'shell'; owner: string }) =>
      `Plugin ${d.kind} is not allowed for jobs of owner ${d.owner}: name the owner in "code": {"${d.kind}": […]} in tws.json if it is meant.`,
    definition,
  ),
  ScriptModuleMissing: row(
    (d: { module: string; known: string }) =>
      `There is no module "${d.module}" for scripts: "code": {"modules": {…}} in tws.json names ${d.known}.`,
    definition,
  ),
  ScriptInvalid: row(
    (d: { reason: string }) => `The code of the script cannot be read: ${d.reason}`,
    definition,
  ),
  ScriptTooLong: row(
    (d: { ms: number }) => `The script took more than ${d.ms} ms of the processor and was ended.`,
    permanent,
  ),
  ScriptTooLarge: row(
    (d: { mb: number }) => `The script needed more than ${d.mb} MB of memory and was ended.`,
    permanent,
  ),
  ScriptTooLoud: row(
    (d: { what: string; most: string }) => `${d.what} of the script is more than ${d.most}.`,
    permanent,
  ),
  ScriptStuck: row(
    () => 'The script awaits something that never comes: in its sandbox nothing happens by itself.',
    permanent,
  ),
  ProgramNotAllowed: row(
    (d: { what: string; setting: string }) =>
      `${d.what} is not allowed: "code": {"${d.setting}"} in tws.json says what is.`,
    definition,
  ),
  ProgramMissing: row(
    (d: { program: string; reason: string }) =>
      `The program ${d.program} cannot be started (${d.reason}).`,
    permanent,
  ),
  ProgramFailed: row(
    (d: { program: string; how: string; said: string }) =>
      `The program ${d.program} ${d.how}: ${d.said}`,
  ),
  ProgramTooLoud: row(
    (d: { program: string; most: number }) =>
      `The program ${d.program} wrote more than ${d.most} bytes and was ended.`,
    permanent,
  ),
  IsolateLost: row(
    (d: { plugin: string; how: string }) =>
      `Plugin ${d.plugin} ended before it answered: its ${d.how}.`,
  ),
} as const;

export type PluginFailureName = keyof typeof failures;

export const pluginFailureNames = Object.keys(failures) as readonly PluginFailureName[];

type Details<N extends PluginFailureName> = Parameters<(typeof failures)[N]['say']>[0];

/** Makes the error of a row: `pluginProblem('FileOutside', { path, folder })`. */
export function pluginProblem<N extends PluginFailureName>(
  name: N,
  details: Details<N>,
  cause?: unknown,
): PluginError {
  const { say, ...options } = failures[name] as Row<Details<N>>;
  return new PluginError(say(details), {
    ...options,
    name,
    ...(cause === undefined ? {} : { cause }),
  });
}
