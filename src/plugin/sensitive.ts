import { isSensitiveName } from '../model/sensitive.js';
import type { PluginContext } from './api.js';
import { pluginProblem } from './failures.js';

/** Sensitive values in clear, by name. */
export type SensitiveTexts = Readonly<Record<string, string>>;

/** Answers the values with these names; rejects where one is missing. */
export type AskSensitive = (names: readonly string[]) => Promise<SensitiveTexts>;

/**
 * A text of a parameter that the plugin renders: a template that reads sensitive values exactly as it is written, and
 * these. Without `values` it is a sensitive value itself, which stays as it is, whatever braces are in it.
 */
export type LateTemplate = { readonly text: string; readonly values?: SensitiveTexts };

/** Has a text hidden from now on in everything that an attempt says. */
export type Hide = (text: string) => void;

/** `context.sensitive` of an attempt: what it answers is hidden before the plugin has it. */
export function askingFor(ask: AskSensitive | undefined, hide: Hide): PluginContext['sensitive'] {
  return async (...names) => {
    const wrong = names.find((name) => typeof name !== 'string' || !isSensitiveName(name));
    if (wrong !== undefined || names.length === 0) {
      throw pluginProblem('SensitiveInvalid', { given: JSON.stringify(wrong ?? null) });
    }
    if (ask === undefined) throw pluginProblem('SensitiveUnset', {});
    const values = await ask([...new Set(names)]);
    for (const text of Object.values(values)) hide(text);
    return values;
  };
}

const hides = new WeakMap<PluginContext, Hide>();

/** Says what hides texts in the attempt of a context. */
export function hidesFor(context: PluginContext, hide: Hide): void {
  hides.set(context, hide);
}

/** Hides a text that was made where the plugin runs, in the attempt of its context here. */
export function hideIn(context: PluginContext, text: string): void {
  hides.get(context)?.(text);
}
