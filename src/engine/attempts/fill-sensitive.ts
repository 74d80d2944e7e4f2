import { renderParams } from '../../evaluate/expressions.js';
import type { TemplateContext } from '../../decide/world.js';
import { failure } from '../../model/failures.js';
import type { Failure } from '../../model/step.js';
import type { LateTemplate } from '../../plugin/sensitive.js';
import { redactor } from '../../secrets/redaction.js';
import { withValue, type OpenedSecrets, type SensitiveTemplate } from './open-secrets.js';

type Json = Readonly<Record<string, unknown>>;

/** Parameters for the plugin, the texts that nothing may show, and what the plugin renders itself. */
export type FilledSensitive = {
  readonly params: Json;
  readonly clear: readonly string[];
  readonly late: readonly LateTemplate[];
};

/**
 * Puts sensitive values into their parameters, and fills in the templates that read them. What these become is as
 * secret as the values: only this attempt sees it, and nothing stores it. The plugin renders the templates in
 * `untouched` parameters itself. Returns the failure of a template that cannot be filled in.
 */
export function fillSensitive(
  { params, templates }: Pick<OpenedSecrets, 'params' | 'templates'>,
  context: TemplateContext,
  untouched: readonly string[],
): FilledSensitive | { readonly failure: Failure } {
  const late: LateTemplate[] = [];
  const clear: string[] = [];
  let filled: unknown = params;
  for (const template of templates) {
    const { keys, values } = template;
    const [key = ''] = keys;
    const isUntouched = untouched.includes(key);
    if (values === undefined) {
      filled = withValue(filled, keys, template.text);
      if (isUntouched) late.push({ text: template.text });
      continue;
    }
    const data = { ...context, $sensitive: values };
    const rendered = renderParams({ [key]: template.text }, data, untouched);
    if (!rendered.ok) return { failure: unfilledAt(template, rendered.reason) };
    const text = rendered.value[key];
    filled = withValue(filled, keys, text);
    if (isUntouched) late.push({ text: String(text), values });
    else clear.push(String(text));
  }
  return { params: filled as Json, clear, late };
}

function unfilledAt({ keys, values }: SensitiveTemplate, reason: string): Failure {
  const hide = redactor(Object.values(values ?? {}));
  return failure('TemplateError', { at: `params.${keys.join('.')}`, reason: hide(reason) });
}
