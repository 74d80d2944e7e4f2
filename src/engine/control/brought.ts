/** What the feed brought, in its order: what was read before that from elsewhere may be older. */
export type Brought = {
  readonly note: (id: string) => void;
  /** Where the feed is now. */
  readonly mark: () => number;
  /** Whether it has brought the document, or its end, since that mark. */
  readonly isSince: (id: string, mark: number) => boolean;
};

export function createBrought(): Brought {
  const places = new Map<string, number>();
  let last = 0;
  return {
    note: (id) => {
      last += 1;
      places.set(id, last);
    },
    mark: () => last,
    isSince: (id, mark) => (places.get(id) ?? 0) > mark,
  };
}
