import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';

import { createDatabase } from '../../src/store/database.js';
import { installDesign } from '../../src/store/design.js';
import { ownServer } from './own-server.js';

test.skipIf(!existsSync('/proc/self/task'))(
  'a database with its views is made with no more threads than there are cores',
  async () => {
    const server = await ownServer();
    const threads = async (): Promise<number> => (await readdir(`/proc/${server.pid}/task`)).length;
    const before = await threads();
    const { url, user, password } = server;
    const connection = { url, user, password, database: 'db', app: 'tws' };
    await createDatabase(connection);
    await installDesign(connection);
    expect((await threads()) - before).toBeLessThanOrEqual(availableParallelism());
  },
);
