import type { PluginContext } from '../src/plugin/index.js';

export const description = 'Does nothing; its result is its parameters';

export default function noop({ params }: PluginContext): unknown {
  return params;
}
