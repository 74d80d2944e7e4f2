/** Set-up of each file of `store` and `long`: files share what they load, so none cleans up by itself. */
import { afterAll } from 'vitest';
import { cleanUp } from './couch.js';

afterAll(cleanUp);
