/* What we use of the PouchDB parts and of leveldown; their packages ship no types for it. */

declare module 'leveldown' {
  type Done = (error: Error | null | undefined) => void;
  type Operation =
    | { readonly type: 'put'; readonly key: string; readonly value: string }
    | { readonly type: 'del'; readonly key: string };
  type Iterator = {
    next(done: (error: Error | null | undefined, key?: Buffer, value?: Buffer) => void): void;
    seek(key: string): void;
    end(done: Done): void;
  };
  type LevelDown = {
    open(options: object, done: Done): void;
    close(done: Done): void;
    batch(operations: readonly Operation[], options: object, done: Done): void;
    getMany(
      keys: readonly string[],
      options: { readonly asBuffer: false },
      done: (error: Error | null | undefined, values?: (string | undefined)[]) => void,
    ): void;
    iterator(options: object): Iterator;
    compactRange(start: string, end: string, done: Done): void;
    _batch(operations: readonly Operation[], options: object, done: Done): void;
    _put(key: string, value: string, options: object, done: Done): void;
    _get(
      key: string,
      options: { readonly asBuffer?: boolean },
      done: (error: Error | null | undefined, value?: string | Buffer) => void,
    ): void;
  };
  type LevelDownFactory = {
    (location: string): LevelDown;
    destroy(location: string, done: Done): void;
  };
  const leveldown: LevelDownFactory;
  export default leveldown;
  export type { LevelDown, LevelDownFactory, Iterator, Operation };
}

declare module 'pouchdb-adapter-leveldb-core' {
  const LevelAdapter: (this: unknown, options: object, done: (error: unknown) => void) => void;
  export default LevelAdapter;
}

declare module 'pouchdb-merge' {
  type Node = [id: string, state: { status: string; deleted?: boolean }, children: Node[]];
  type Root = { pos: number; ids: Node };
  const merging: {
    merge(tree: Root[], path: Root, limit: number): { tree: Root[] };
    rootToLeaf(tree: readonly Root[]): { pos: number; ids: { id: string; opts: Node[1] }[] }[];
    winningRev(metadata: { rev_tree: readonly Root[] }): string;
    revExists(tree: readonly Root[], rev: string): boolean;
  };
  export default merging;
}
