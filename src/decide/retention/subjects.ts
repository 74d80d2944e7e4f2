/** When sensitive values of a subject were last stored (epoch ms), and how long they stay then. */
export type KeptSubject = {
  readonly updated: number;
  /** ms; 0: for ever; absent: as the setting says. */
  readonly retain?: number | undefined;
};

/**
 * SR1 The key of a subject is destroyed when no value of it was stored for longer than its own `retain`, or where it
 *     has none, than `usualMs`; 0 keeps it for ever.
 *
 * Returns the subjects whose time is over at `now` (epoch ms).
 */
export function overdueSubjects<T extends KeptSubject>(
  subjects: readonly T[],
  usualMs: number,
  now: number,
): readonly T[] {
  return subjects.filter(({ updated, retain = usualMs }) => retain > 0 && updated < now - retain);
}
