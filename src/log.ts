/** Where engines and the HTTP API say what they do: the part of a pino logger that they use. */
export type Log = {
  readonly debug: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly info: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly warn: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly error: (about: Readonly<Record<string, unknown>>, message: string) => void;
};
