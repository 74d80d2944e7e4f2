import { createViteServer } from 'vitest/node';

/** Runs the `main` of a TypeScript file, which Node 20 cannot read by itself; its answer is the exit status. */
export async function runMain(file) {
  const vite = await createViteServer({
    configFile: false,
    appType: 'custom',
    logLevel: 'error',
    server: { middlewareMode: true, ws: false, watch: null },
  });
  try {
    const { main } = await vite.ssrLoadModule(new URL(file).pathname);
    process.exitCode = await main(process.argv.slice(2));
  } finally {
    await vite.close();
  }
}
