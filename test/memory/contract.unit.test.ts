import { createMemoryStore } from '../../src/memory/store.js';
import { storeContract } from '../store/contract.js';

storeContract('in memory', async () => (await createMemoryStore()).open);
