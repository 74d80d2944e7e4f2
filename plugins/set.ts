import type { PluginContext } from '../src/plugin/index.js';

export const description =
  'Sets keys of job.data, which all tasks of the job share; its result is what it set';

/** Every parameter is a key to set; `null` takes it out. */
export default function set({ params, setData }: PluginContext): unknown {
  setData(params);
  return params;
}
