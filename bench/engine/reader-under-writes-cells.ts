/**
 * The cells that `reader-under-writes.ts` and its reader share: command, progress, expected result, and
 * whether it was seen.
 */
export const CELLS = { command: 0, done: 1, expected: 2, seen: 3, pause: 15 } as const
export const COMMANDS = { stop: 0, single: 1, staged: 2, watch: 3, echo: 4 } as const
