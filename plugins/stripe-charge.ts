import type StripeClient from 'stripe';
import { egressAgents, loadPackage, PluginError, type PluginContext } from '../src/plugin/index.js';

export const description = 'Charges a payment method through Stripe, once for each step';

export const params = {
  type: 'object',
  required: ['secret_key', 'amount', 'currency', 'payment_method'],
  additionalProperties: false,
  properties: {
    secret_key: { type: 'string', minLength: 1, description: 'encrypted by tws encrypt' },
    amount: { type: 'integer', minimum: 1, description: 'in the smallest unit: cents' },
    currency: { type: 'string', pattern: '^[A-Za-z]{3}$' },
    payment_method: { type: 'string', minLength: 1, description: 'pm_…' },
    customer: { type: 'string', description: 'cus_…' },
    description: { type: 'string' },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    receipt_email: { type: 'string' },
    api: { type: 'string', description: 'address of another API than that of Stripe' },
  },
};

type Params = {
  readonly secret_key: string;
  readonly amount: number;
  readonly currency: string;
  readonly payment_method: string;
  readonly customer?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly receipt_email?: string;
  readonly api?: string;
};

type Module = typeof StripeClient & { readonly default?: typeof StripeClient };

export default async function stripeCharge(context: PluginContext<Params>): Promise<unknown> {
  const { params: given, job, step, key, cwd, egress } = context;
  const { secret_key: _secret, api, metadata, ...charge } = given;
  const module = await loadPackage<Module>('stripe', 'stripe-charge', cwd);
  const Stripe = module.default ?? module;
  const stripe = new Stripe(context.secret('secret_key'), {
    ...addressOf(api, egressAgents(egress)),
    // Trying again is the business of the task's retry policy.
    maxNetworkRetries: 0,
    telemetry: false,
  });
  try {
    const intent = await stripe.paymentIntents.create(
      {
        ...charge,
        confirm: true,
        // Nobody is there who could be led to a page of the bank.
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        metadata: { ...metadata, job: String(job['_id']), step: String(step['name']) },
      },
      // Every attempt of the step has the same key: Stripe charges once, and answers the same again.
      { idempotencyKey: key },
    );
    const { id, status, amount, currency, latest_charge: latest } = intent;
    if (status !== 'succeeded' && status !== 'processing') throw unfinished(id, status);
    const chargeId = typeof latest === 'string' ? latest : latest?.id;
    return context.done({ id, status, amount, currency, charge: chargeId ?? null });
  } catch (error) {
    throw explained(error);
  }
}

function addressOf(api: string | undefined, agents: ReturnType<typeof egressAgents>) {
  if (api === undefined) return { httpAgent: agents.httpsAgent };
  const { protocol, hostname, port } = new URL(api);
  const isPlain = protocol === 'http:';
  return {
    protocol: isPlain ? ('http' as const) : ('https' as const),
    host: hostname,
    port: port === '' ? (isPlain ? 80 : 443) : Number(port),
    httpAgent: isPlain ? agents.httpAgent : agents.httpsAgent,
  };
}

const unfinished = (id: string, status: string): PluginError =>
  new PluginError(`Payment ${id} is not complete: Stripe says "${status}".`, {
    name: 'PaymentIncomplete',
    code: status,
    retryable: false,
  });

type StripeFailure = {
  readonly type?: string;
  readonly message?: string;
  readonly code?: string;
  readonly decline_code?: string;
  readonly statusCode?: number;
};

/**
 * A declined card is declined again; a server that is busy or out of reach may answer next time, by the same key.
 */
function explained(error: unknown): unknown {
  if (error instanceof PluginError) return error;
  const { type, message, code, decline_code: decline, statusCode } = error as StripeFailure;
  if (type === undefined) return error;
  if (type === 'StripeCardError') {
    const reason = decline === undefined || decline === code ? '' : ` (${decline})`;
    return new PluginError(`The payment was declined: ${message}${reason}`, {
      name: 'PaymentDeclined',
      code: decline ?? code ?? 'card_declined',
      kind: 'business',
      retryable: false,
      cause: error,
    });
  }
  const isTemporary =
    statusCode === undefined || statusCode >= 500 || [409, 429].includes(statusCode);
  return new PluginError(`Stripe refuses the payment: ${message}`, {
    name: 'PaymentRefused',
    ...(code === undefined ? {} : { code }),
    retryable: isTemporary,
    cause: error,
  });
}
