/** Timeout of tests. Tests wait for events on machines of any speed, so only a hanging test reaches it. */
export const HANG_MS = 20 * 60_000
