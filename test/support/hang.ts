/**
 * The only deadline of tests. Tests wait for events, however slow the machine is, so only a hanging test
 * reaches it.
 */
export const HANG_MS = 20 * 60_000
