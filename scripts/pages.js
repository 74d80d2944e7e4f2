/* Builds the admin pages; a process of its own, so that it runs beside the compiler. */
import { build } from 'vite';

import config from '../.config/vite.config.js';

await build(config);
