import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeApi } from '../../src/http/reference/document.js';
import { fullPath } from '../../src/http/route.js';
import { routes } from '../../src/http/routes.js';

const reference = describeApi(routes, '0.0.0');
const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
// Each has a name of its own, so that it is compiled once for all answers that refer to it.
for (const [name, schema] of Object.entries(reference.components.schemas)) {
  ajv.addSchema(resolved(schema), `api:${name}`);
}

const paths = routes.map((route) => ({
  route,
  form: new RegExp(
    `^${fullPath(route)
      .replaceAll('.', '\\.')
      .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  ),
}));
/** What checks an answer, by method, path and status, and by the text of its schema. */
const checks = new Map<string, ValidateFunction>();
const forms = new Map<string, ValidateFunction>();

type Answer = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly text: string;
};

/**
 * What of an answer is not as the reference says: a status that it does not name, another media type or
 * a body of another form. Undefined when it is as promised, or no route is asked.
 */
export function untruthOf({ method, path, status, type, text }: Answer): string | undefined {
  const [bare = ''] = path.split('?');
  const { route } = paths.find(({ route: one, form }) => {
    return one.method === method && form.test(bare);
  }) ?? { route: undefined };
  if (route === undefined) return undefined;
  const about = `${method} ${fullPath(route)} ${status}`;
  const responses = reference.paths[fullPath(route)]?.[method.toLowerCase()]?.responses ?? {};
  const named = responses[String(status)];
  if (named === undefined) return `${about} is not named by the reference: ${text.slice(0, 200)}`;
  const content = (named['content'] ?? {}) as Readonly<Record<string, { readonly schema: object }>>;
  const [media] = Object.keys(content);
  if (media === undefined) return text === '' ? undefined : `${about} must have no body.`;
  if (!type.startsWith(media)) return `${about} must be ${media}; it is ${type}.`;
  if (!media.endsWith('json')) return undefined;
  const check = checks.get(about) ?? compiled(content[media]?.schema ?? {});
  checks.set(about, check);
  if (check(JSON.parse(text))) return undefined;
  return `${about} is not of its schema: ${ajv.errorsText(check.errors)}: ${text.slice(0, 300)}`;
}

/** Most answers have one of a few forms. */
function compiled(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const check = forms.get(text) ?? ajv.compile(resolved(schema));
  forms.set(text, check);
  return check;
}

function resolved(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"api:')) as object;
}
