import { installDesign } from '../../src/store/design.js';
import { openStore } from '../../src/store/store.js';
import { freshDatabase } from '../support/couch.js';
import { connect } from './connect.js';
import { storeContract } from './contract.js';

storeContract('of a CouchDB', async () => {
  const connection = connect(await freshDatabase());
  await installDesign(connection);
  return () => openStore(connection);
});
