/**
 * The one deadline of the tests. What waits, waits for an event: for how long is the machine's business, which may be busy or
 * stand still. Only what will never happen takes this long, and the run then says which test it was.
 */
export const HANG_MS = 20 * 60_000
