import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, to end them with it. */
export type Connections = {
  /**
   * Ends every connection as soon as nothing is answered on it, and after `endMs` whatever is; to be
   * called with the server about to close. Answers the function that ends the watch.
   */
  readonly end: (endMs: number) => () => void;
};

/** So often is looked which of them have become idle, ms. */
const lookMs = 20;

/** Begins to watch. Node itself takes a connection that never brought a request for a busy one. */
export function watchConnections(server: Server): Connections {
  const sockets = new Set<Socket>();
  const answering = new Set<Socket>();
  const secure = new Set<Socket>();
  const keep = (set: Set<Socket>) => (socket: Socket) => {
    set.add(socket);
    socket.once('close', () => set.delete(socket));
  };
  server.on('connection', keep(sockets));
  // Of HTTPS: what requests are read from is not what was connected.
  server.on('secureConnection', keep(secure));
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.add(socket);
    response.once('close', () => answering.delete(socket));
  });
  return {
    end: (endMs) => {
      const look = (): void => {
        const read = secure.size > 0 ? secure : sockets;
        for (const socket of read) if (!answering.has(socket)) socket.destroySoon();
      };
      const idle = setInterval(look, lookMs);
      const late = setTimeout(() => sockets.forEach((socket) => socket.destroy()), endMs);
      return () => {
        clearInterval(idle);
        clearTimeout(late);
      };
    },
  };
}
