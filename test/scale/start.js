/* The main of the simulation, in a process with a heap that suits it: see `npm run simulate`. */
import { runMain } from '../run-main.js';

await runMain(new URL('./main.ts', import.meta.url));
