/** Where an engine says what it does: the part of a pino logger that it uses. */
export type Log = {
  readonly debug: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly info: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly warn: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly error: (about: Readonly<Record<string, unknown>>, message: string) => void;
};
