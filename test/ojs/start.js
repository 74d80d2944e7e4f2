/* `npm run ojs`. */
import { runMain } from '../run-main.js';

await runMain(new URL('./main.ts', import.meta.url));
