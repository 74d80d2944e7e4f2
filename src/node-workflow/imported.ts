import type { WrittenWorkflow } from './collect.js';

/** What one file brings. */
export type ImportedFile = {
  /** As people are told of it. */
  readonly shown: string;
  readonly workflows: readonly WrittenWorkflow[];
  /** Absolute, of a module whose functions may stay where they are. */
  readonly module?: string;
};

export type ConvertOptions = {
  readonly owner: string;
  /** What the configuration of the runners gives to tasks. */
  readonly sandbox: RunnerSandbox;
  /** The specifier by which a plugin file imports the module at an absolute path. */
  readonly specifierOf: (path: string) => string;
};

/** A sentence about something of a workflow. `problem`: it is not imported. */
export type Remark = {
  readonly level: 'problem' | 'note';
  readonly file: string;
  readonly workflow: string;
  readonly task?: string;
  readonly message: string;
};

export type Document = Readonly<Record<string, unknown>>;

/** What runners give to the functions of tasks: modules by the name of the variable, and values. */
export type RunnerSandbox = {
  readonly modules: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
};
