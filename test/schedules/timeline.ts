import TinyQueue from 'tinyqueue';

/** Virtual time (ms): what is planned happens in the order of its times, everything else waits. */
export class Timeline {
  now = 0;
  readonly #queue = new TinyQueue<Entry>([], (a, b) => a.at - b.at || a.number - b.number);
  #planned = 0;

  /** Plans something `ms` from now. */
  after(ms: number, happen: () => void): void {
    this.#planned += 1;
    this.#queue.push({ at: this.now + ms, number: this.#planned, happen });
  }

  /** Lets the next thing happen; false when nothing is planned. */
  next(): boolean {
    const entry = this.#queue.pop();
    if (entry === undefined) return false;
    this.now = entry.at;
    entry.happen();
    return true;
  }
}

type Entry = { readonly at: number; readonly number: number; readonly happen: () => void };
