import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Connection } from '../../src/store/connection.js';
import { request, store as put } from '../support/couch.js';
import { userDocument } from '../support/users.js';
import { connect } from './connect.js';

/** A user without any rights, until the end of the test: the connection as that user. */
export async function connectAsUser(database: string): Promise<Connection & { user: string }> {
  const name = `user-${randomUUID()}`;
  const user = userDocument({ name, password: 'word' });
  const rev = await put('_users', user);
  onTestFinished(async () => {
    await request('DELETE', `/_users/${encodeURIComponent(user._id)}?rev=${rev}`);
  });
  return { ...connect(database), user: name, password: 'word' };
}
