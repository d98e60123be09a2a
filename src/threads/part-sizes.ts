/** How a pool cuts bulks into parts, as measured. */

/**
 * From so many checks on a bulk is spread: it would keep its thread for more than a millisecond. With one pool thread on
 * the second of two cores bulks of 2,000 are 1.34 times as fast, bulks of 4,000 1.6 times (`npm run bench -- pool`); of one
 * caller, one after the other, those of 2,000 1.02 times: the copy and the messages cost what the thread saves.
 */
export const POOLED_CHECKS_MIN = 2_000
/**
 * Most checks of a part for the pool: over a millisecond, against 20 to 50 µs for the message there and back. With 1,024 two
 * cores were 1.44 times as fast as one, with 2,048 1.60, with 4,096 1.53 (`npm run bench -- pool`).
 */
export const POOL_PART_CHECKS_MAX = 2_048
/**
 * Parts a pool thread has at once. This thread may be reading a body of a megabyte, which takes milliseconds, when a part is
 * done: with one part at a time the pool thread waited for it, and two cores were as fast as one. With 4, the last ones of
 * a bulk were done before the next was read: 1.53 and 1.57 times as fast as one core where 8 are 1.57 and 1.63, and 12
 * hardly more (15 rounds in turns).
 */
export const PARTS_AHEAD = 8
/**
 * The same for a job that is alone: this thread has no other body to read, and what it gave away it could not do itself.
 * From one caller, one after the other, bulks of 10,000 are 1.30 times as fast as without a pool, with 8 ahead 0.85, with
 * 4 1.00 and 1.11, with 1 1.27 (15 rounds in turns).
 */
export const LONE_PARTS_AHEAD = 2
/**
 * Fewest checks of a part for the pool in a large bulk: of one of 128 the message is half. With parts down to 128
 * towards the end of bulks of 10,000 two cores answered 1.8 % fewer of them (in turns, medians of four starts).
 */
export const POOL_PART_CHECKS_MIN = 512
/** Checks of a part done here: about 60 µs, for which single decisions have to wait. */
export const OWN_PART_CHECKS = 128
