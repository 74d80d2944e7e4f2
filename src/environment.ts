/** The variables of the environment, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of the environment that hold credentials. */
export const credentialVariables = [
  'COUCH_URL',
  'COUCH_PASS',
  'COUCH_KEY',
  'TWS_CRYPTO_KEY',
] as const;

/** Tells an engine that the API of its project can be reached from other machines. */
export const exposedVariable = 'TWS_EXPOSED';
