import { evaluateExpression, PluginError, type PluginContext } from '../src/plugin/index.js';

export const description =
  'Computes its result by a JSONata expression; as a decider, its decisions';

export const params = {
  type: 'object',
  required: ['expression'],
  properties: {
    expression: {
      type: 'string',
      minLength: 1,
      description: 'sees params, results, job, step, item and (as a decider) history',
    },
  },
};

/** JSONata is no template: what looks like one in it stays. */
export const templates = ['expression'];

type Params = { readonly expression: string };

export default async function jsonata(context: PluginContext<Params>): Promise<unknown> {
  const { params, results, job, step, item, history } = context;
  try {
    const seen = { params, results, job, step, item, history };
    return await evaluateExpression(params.expression, seen);
  } catch (error) {
    const { message } = error as { readonly message?: unknown };
    const because = `params.expression cannot be evaluated: ${String(message)}`;
    throw new PluginError(because, { name: 'ExpressionError', retryable: false });
  }
}
