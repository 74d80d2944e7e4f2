import { unexpected, type CouchClient, databasePath } from './client.js';

/** A database at this moment. */
export type DatabaseState = {
  /** Where the feed stands; a feed from here brings what comes after this answer. */
  readonly updateSeq: string;
  readonly documents: number;
  /** Copies of every document in the cluster; 1 on a single node. */
  readonly copies: number;
  /** Tells this database from an earlier one of the same name, where the server says it. */
  readonly identity: string | undefined;
};

/** Reads the state of the connection's database. @throws TwsError, see `CouchClient.ask` */
export async function readDatabase(
  client: CouchClient,
  signal?: AbortSignal,
): Promise<DatabaseState> {
  const action = 'read the state of the database';
  const reply = await client.ask({
    path: databasePath(client.connection),
    action,
    ...(signal === undefined ? {} : { signal }),
  });
  if (reply.kind === 'refused') throw unexpected(client.connection, action, reply);
  const { update_seq: seq, doc_count, cluster, instance_start_time: made } = reply.body as Written;
  if (typeof seq !== 'string' && typeof seq !== 'number') {
    const reason = 'the answer is not the state of a database';
    throw unexpected(client.connection, action, { status: 200, reason });
  }
  return {
    updateSeq: String(seq),
    documents: typeof doc_count === 'number' ? doc_count : 0,
    copies: typeof cluster?.n === 'number' ? cluster.n : 1,
    // CouchDB up to 3.2 answers "0" here.
    identity: typeof made === 'string' && made !== '0' ? made : undefined,
  };
}

type Written = {
  readonly update_seq?: unknown;
  readonly doc_count?: unknown;
  readonly cluster?: { readonly n?: unknown };
  readonly instance_start_time?: unknown;
};
