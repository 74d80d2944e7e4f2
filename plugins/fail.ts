import { PluginError, type PluginContext } from '../src/plugin/index.js';

export const description = 'Fails as its parameters say, to try out retries and error handlers';

export const params = {
  type: 'object',
  properties: {
    message: { type: 'string' },
    name: { type: 'string' },
    code: { type: ['string', 'integer'] },
    retryable: { type: 'boolean' },
    retry_after: { type: 'number', minimum: 0, description: 'milliseconds from now' },
    exit: { type: 'integer', minimum: 1, maximum: 255 },
  },
};

type Params = {
  readonly message?: string;
  readonly name?: string;
  readonly code?: string | number;
  readonly retryable?: boolean;
  readonly retry_after?: number;
  readonly exit?: number;
};

export default function fail({ params, exit }: PluginContext<Params>): never {
  const { message = 'It was told to fail.', name = 'Failed', retry_after: retryAfter } = params;
  if (params.exit !== undefined) exit(params.exit);
  throw new PluginError(message, {
    name,
    ...(params.code === undefined ? {} : { code: params.code }),
    ...(params.retryable === undefined ? {} : { retryable: params.retryable }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}
