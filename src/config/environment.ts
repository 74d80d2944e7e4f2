/** The variables of the environment, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty text says nothing. */
export function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
