/**
 * Layout of the memory that `reader-under-writes.ts` and its reader share: the command, the progress, the
 * expected result, and whether the reader has seen it.
 */
export const CELLS = { command: 0, done: 1, expected: 2, seen: 3, pause: 15 } as const
export const COMMANDS = { stop: 0, single: 1, staged: 2, watch: 3, echo: 4 } as const
