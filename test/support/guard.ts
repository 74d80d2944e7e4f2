/** Whether the databases of tests have the guard: `TWS_TEST_GUARD=0` runs the tests without it. */
export const withGuard = process.env['TWS_TEST_GUARD'] !== '0';
