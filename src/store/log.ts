/** Where the store tells what nobody asked about; a pino logger is one. No credentials go in. */
export type StoreLog = {
  readonly warn: (details: Record<string, unknown>, message: string) => void;
};
