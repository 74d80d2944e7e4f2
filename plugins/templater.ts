import { PluginError, readProjectFile, type PluginContext } from '../src/plugin/index.js';

export const description = 'Fills in a Handlebars template; its result is the text';

/** These arrive as written: filling them in is this plugin's own work. */
export const templates = ['template'];

export const params = {
  type: 'object',
  properties: {
    template: {
      description: 'the template, or an object of several: the result has the same names',
      type: ['string', 'object'],
      additionalProperties: { type: 'string' },
    },
    file: { type: 'string', description: 'a file of the project that holds the template' },
    data: { type: 'object', description: 'names for the template beside those of the step' },
    html: { type: 'boolean', description: 'escape what is filled in' },
  },
};

type Params = Readonly<Record<string, unknown>> & {
  readonly template?: string | Readonly<Record<string, string>>;
  readonly file?: string;
  readonly html?: boolean;
};

/** Other parameters may be used by their bare name, too: `{{title}}` is `{{params.title}}`. */
export default async function templater(
  context: PluginContext<Params>,
): Promise<string | Record<string, string>> {
  const { template, file, html = false } = context.params;
  const fill = (text: string): string =>
    context.render(text, { html, namesOf: ['params', 'params.data'] });
  if (file !== undefined) return fill((await readProjectFile(context.cwd, file)).toString('utf8'));
  if (typeof template === 'string') return fill(template);
  if (template !== undefined) {
    return Object.fromEntries(Object.entries(template).map(([name, text]) => [name, fill(text)]));
  }
  throw new PluginError('The parameter template or file is missing.', {
    name: 'TemplateMissing',
    retryable: false,
    exit: 3,
  });
}
