import { row } from './row.js';

/** Rows about deliveries to hooks. What is wrong with the proof of a sender is told to nobody. */
export const hookProblems = {
  hook_missing: row(
    (d: { name: string }) => `There is no hook "${d.name}" that takes deliveries.`,
    'See `tws hook list`; a hook of another owner than DEFAULT is called NAME::OWNER.',
    4,
    404,
  ),
  hook_refused: row(
    (_: Readonly<Record<string, never>>) => 'The sender could not be verified.',
    'Compare secret, header and algorithm of the sender with "check" of the hook; `tws hook test --send` shows a delivery that passes.',
    77,
    401,
  ),
  hook_body_large: row(
    (d: { most: number }) => `The body is larger than the ${d.most} bytes that the hook takes.`,
    'Send less, or raise "max_bytes" of the hook.',
    2,
    413,
  ),
  hook_unnamed: row(
    (d: { header: string }) => `The header ${d.header}, which names the delivery, is missing.`,
    'Send it, or correct "dedupe" of the hook.',
    2,
    400,
  ),
  hook_unfit: row(
    (d: { job: string }) => `The hook fails for this delivery: job ${d.job} says why.`,
    'Correct "match" or "params" of the hook, and deliver again; `tws hook test` shows what they give.',
    3,
    422,
  ),
  hook_locked: row(
    (d: { hook: string }) => `The secrets of hook ${d.hook} cannot be read here, or hold no key.`,
    'Give the process that serves the API the TWS_CRYPTO_KEY that they were encrypted with; `tws doctor` names those that it cannot read. An empty secret is not a key, and with standard_webhooks a secret has to be base64.',
    78,
    503,
  ),
  hook_unreachable: row(
    (d: { server: string; reason: string }) => `Nothing answers at ${d.server} (${d.reason}).`,
    'Start the API with `tws dev` or `tws serve`, or name its address: --send http://host:port.',
    69,
    502,
  ),
} as const;
