import { defaultHost, defaultPort } from '../../config/address.js';
import { engineSettings, optionOf } from '../../config/table.js';
import type { ArgumentDefinition, OptionDefinition } from '../command.js';

/** Options that every command understands, before or after its name. */
export const globalOptions: readonly OptionDefinition[] = [
  optionOf('url'),
  { ...optionOf('database'), repeated: true },
  optionOf('app'),
  { ...optionOf('owner'), values: { named: ['owner'] } },
  {
    flags: '--no-confirm',
    about: 'Do not ask for confirmation; every command accepts it.',
  },
  { flags: '--json', about: 'Print results as JSON, and nothing else.' },
  { flags: '--quiet', about: 'Print nothing but errors.' },
];

/** What an engine is started with. */
export const engineOptions: readonly OptionDefinition[] = engineSettings.map(optionOf);

export const mailPort: OptionDefinition = {
  flags: '--mail-port <n>',
  about: 'Port of the mail server; default 2525, 0: a free one.',
};

/** What jobs are chosen by. */
export const flowOption: OptionDefinition = {
  flags: '--flow <name>',
  about: 'Jobs of this flow, as name or name::owner.',
  values: { named: ['flow'] },
};
/** As in `tws submit`: `--version` prints that of tws. */
export const flowVersionOption: OptionDefinition = {
  flags: '--flow-version <version>',
  about: 'Jobs that run this version of their flow.',
};
export const statusOption: OptionDefinition = {
  flags: '--status <a,b>',
  about:
    'Jobs of these statuses: queued, scheduled, running, waiting, paused, succeeded, failed, cancelled.',
  values: async () => (await import('../../model/status.js')).statuses,
};

/** Requests to a live job. */
export const requestOptions: readonly OptionDefinition[] = [
  { flags: '--reason <text>', about: 'Why; it is kept in the job.' },
  { flags: '--by <name>', about: 'Who asks; it is kept in the job.' },
];

export const jobArgument: readonly ArgumentDefinition[] = [
  {
    name: '<job>',
    about: 'Id of the job, as submit prints it and list --jobs shows it.',
    values: { named: ['job'] },
  },
];

/** Jobs that are named, or chosen by what they are. */
export const jobsArgument: readonly ArgumentDefinition[] = [
  { name: '[job...]', about: 'Ids of jobs.', values: { named: ['job'] } },
];

/** `which`: the jobs that `--every` means. */
export const chosenJobs = (which: string): readonly OptionDefinition[] => [
  { flags: '--every', about: `All ${which} jobs, or those that the next options choose.` },
  { ...flowOption, about: 'With --every: jobs of this flow, as name or name::owner.' },
  { ...flowVersionOption, about: 'With --every: jobs that run this version of their flow.' },
  { ...statusOption, about: 'With --every: jobs of these statuses.' },
  { flags: '--limit <n>', about: 'With --every: at most this many jobs, the newest first.' },
];

/** What a picture may be written as. */
export const graphFormats = ['mermaid', 'svg', 'json'] as const;

/** Where the HTTP API is served. */
export const httpOption: OptionDefinition = optionOf('http.host');

/** The same where it is served anyway. */
export const httpPlace: OptionDefinition = {
  ...httpOption,
  about: `Where the HTTP API is served; default ${defaultHost}:${defaultPort}.`,
};
