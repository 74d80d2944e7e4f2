/* `npm run schedules`: runs main.ts, which Node 20 cannot read by itself. */
import { createViteServer } from 'vitest/node';

const vite = await createViteServer({
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, ws: false, watch: null },
});
try {
  const { main } = await vite.ssrLoadModule(new URL('./main.ts', import.meta.url).pathname);
  process.exitCode = main(process.argv.slice(2));
} finally {
  await vite.close();
}
