import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * Where the next write of a job is cut: `request`: half of its body has gone out, so the database
 * never sees the whole; `answer`: the database has it, but its answer does not come back.
 */
export type WriteCut = 'request' | 'answer';

/** A TCP proxy between one engine and the database, which fails in the ways that networks do. */
export type Proxy = {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Breaks all connections; new ones are let in. */
  readonly cut: () => void;
  /** Has the next `_bulk_docs` with a job in it cut; `hit` is called when that has happened. */
  readonly cutNextWrite: (where: WriteCut, hit: () => void) => void;
  /** No byte gets through, no connection breaks. */
  readonly silence: () => void;
  /** All connections break and none is let in. */
  readonly refuse: () => void;
  /** Everything gets through again. */
  readonly heal: () => void;
  readonly close: () => Promise<void>;
};

type Link = { readonly near: Socket; readonly far: Socket };
type Mode = 'open' | 'silent' | 'refusing';

/** Listens on a free port of loopback for connections to `target`. */
export async function openProxy(target: URL): Promise<Proxy> {
  const links = new Set<Link>();
  let mode: Mode = 'open';
  let armed: { readonly where: WriteCut; readonly hit: () => void } | undefined;

  const end = (link: Link): void => {
    links.delete(link);
    link.near.destroy();
    link.far.destroy();
  };
  const pass = (from: Socket, to: Socket, part: Buffer): void => {
    if (to.write(part)) return;
    from.pause();
    to.once('drain', () => {
      if (mode !== 'silent') from.resume();
    });
  };
  const join = (near: Socket): void => {
    if (mode === 'refusing') return void near.destroy();
    const far = connect(Number(target.port || 80), target.hostname);
    const link: Link = { near, far };
    let cutting: typeof armed;
    let writing = false;
    links.add(link);
    if (mode === 'silent') near.pause();
    for (const socket of [near, far]) {
      socket.on('error', () => end(link));
      socket.on('close', () => end(link));
    }
    near.on('data', (part: Buffer) => {
      if (isRequest(part)) writing = isWrite(part);
      if (armed !== undefined && writing && part.includes('"type":"job"')) {
        cutting = armed;
        armed = undefined;
      }
      if (cutting?.where !== 'request') return pass(near, far, part);
      const half = halfOfBody(part);
      if (half === undefined) return pass(near, far, part);
      cutting.hit();
      cutting = undefined;
      far.write(part.subarray(0, half), () => end(link));
    });
    far.on('data', (part: Buffer) => {
      if (cutting?.where !== 'answer') return pass(far, near, part);
      cutting.hit();
      end(link);
    });
  };

  const server = createServer(join).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const each = (act: (socket: Socket) => void): void => {
    for (const { near, far } of links) {
      act(near);
      act(far);
    }
  };
  const cut = (): void => [...links].forEach(end);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    cutNextWrite: (where, hit) => {
      armed = { where, hit };
    },
    silence: () => {
      mode = 'silent';
      each((socket) => socket.pause());
    },
    refuse: () => {
      mode = 'refusing';
      cut();
    },
    heal: () => {
      mode = 'open';
      each((socket) => socket.resume());
    },
    close: async () => {
      mode = 'refusing';
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Requests of one connection come one after the other, each beginning a part of its own. */
function isRequest(part: Buffer): boolean {
  return /^[A-Z]+ \S+ HTTP\/1/.test(part.toString('latin1', 0, 2_000));
}

function isWrite(part: Buffer): boolean {
  return /^POST \S*\/_bulk_docs /.test(part.toString('latin1', 0, 300));
}

/** Where to cut a part of a request so that its body is not whole; undefined: it has no body yet. */
function halfOfBody(part: Buffer): number | undefined {
  const headEnds = part.indexOf('\r\n\r\n');
  const body = headEnds < 0 ? 0 : headEnds + 4;
  return body === part.length ? undefined : Math.floor((body + part.length) / 2);
}
