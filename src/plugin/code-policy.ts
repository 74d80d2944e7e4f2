import { ownerOf } from '../model/task.js';
import { pluginProblem } from './failures.js';

/** What a project allows of code and programs in documents; without a setting nothing of it runs. */
export type CodePolicy = {
  /** Owners whose jobs may run code in the sandbox of plugin `script`; `*`: all. */
  readonly script: readonly string[];
  /** Modules that such code may use: name -> file of the project. */
  readonly modules: Readonly<Record<string, string>>;
  /** Owners whose jobs may start programs; `*`: all. */
  readonly shell: readonly string[];
  /** Programs that may be started, by name or path; `*`: all. */
  readonly programs: readonly string[];
  /** Variables that programs may be given: by documents, or from the engine's environment (there `*`: all). */
  readonly env: readonly string[];
  /** Whether a line for the shell of the system may stand in place of an argument list. */
  readonly lines: boolean;
};

/** What holds where no setting says anything. */
export const noCode: CodePolicy = {
  ...{ script: [], modules: {}, shell: [], programs: [], env: [], lines: false },
};

/** Whether a list of the policy names something; `*` names everything. */
export function allowsCode(list: readonly string[], name: string): boolean {
  return list.includes('*') || list.includes(name);
}

/**
 * Refuses the job of an owner who may not run code. `kind`: of the plugin that would run it.
 * @throws PluginError `CodeNotAllowed`
 */
export function requireCodeAllowed(
  kind: 'script' | 'shell',
  { code, job }: { readonly code: CodePolicy; readonly job: Readonly<Record<string, unknown>> },
): void {
  const owner = ownerOf(job);
  if (!allowsCode(code[kind], owner)) throw pluginProblem('CodeNotAllowed', { kind, owner });
}
