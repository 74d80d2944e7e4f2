import type { AttributedCall } from './watchdog-messages.js';

/** Number of calls at the same time; of more the others are not named. */
const mostCalls = 1_024;
/** The longest text about a call, bytes. */
const longest = 1_022;
/** A place holds the length of a text (2 bytes), 0 when it is free, and the text. */
const placeBytes = 2 + longest;

/** The calls of plugins in one thread, for another thread that goes on when the first one does not. */
export type SharedCalls = {
  readonly shared: SharedArrayBuffer;
  /** A call begins; the answer ends it. */
  readonly begin: (call: AttributedCall) => () => void;
};

/**
 * Keeps the calls of this thread in memory that others read: a message for each of them would wake the
 * other thread, which costs a tenth of all that an engine does for a short step.
 */
export function createSharedCalls(): SharedCalls {
  const shared = new SharedArrayBuffer(mostCalls * placeBytes);
  const memory = Buffer.from(shared);
  const free: number[] = [];
  let used = 0;
  return {
    shared,
    begin: (call) => {
      const place = free.pop() ?? used;
      if (place === mostCalls) return () => undefined;
      if (place === used) used += 1;
      const at = place * placeBytes;
      const text = textOf(call);
      memory.writeUInt16LE(memory.write(text, at + 2, longest), at);
      return () => {
        memory.writeUInt16LE(0, at);
        free.push(place);
      };
    },
  };
}

/** Where the text would be too long, the plugin alone is named. */
function textOf({ plugin, file, about, endsAt }: AttributedCall): string {
  const { job, step, attempt } = about;
  const text = JSON.stringify({ plugin, file, about: { job, step, attempt }, endsAt });
  if (isShort(text)) return text;
  const name = JSON.stringify({ plugin, file: '', about: {}, endsAt });
  return isShort(name) ? name : '';
}

function isShort(text: string): boolean {
  return text.length * 3 <= longest || Buffer.byteLength(text) <= longest;
}

/** Reads the calls that are there. One that begins or ends in this moment may be left out. */
export function readSharedCalls(shared: SharedArrayBuffer): readonly AttributedCall[] {
  const memory = Buffer.from(shared);
  const calls: AttributedCall[] = [];
  for (let at = 0; at < memory.length; at += placeBytes) {
    const length = memory.readUInt16LE(at);
    const call =
      length === 0 ? undefined : callIn(memory.toString('utf8', at + 2, at + 2 + length));
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

function callIn(text: string): AttributedCall | undefined {
  try {
    return JSON.parse(text) as AttributedCall;
  } catch {
    return undefined;
  }
}
