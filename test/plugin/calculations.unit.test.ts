import { expect, it } from 'vitest';
import { calculator } from '../../src/plugin/calculations.js';

it('rejects calculations that wait for a thread that cannot start', async () => {
  const calculate = calculator('/no/such/module.js');
  const asked = [1, 2, 3].map(() =>
    calculate({ kind: 'expression', expression: '1 + 1', data: {} }),
  );
  for (const answer of [...asked, calculate({ kind: 'expression', expression: '1', data: {} })]) {
    await expect(answer).rejects.toThrow(/^its thread could not be started: .*no\/such\/module/);
  }
});
