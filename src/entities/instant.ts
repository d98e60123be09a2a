/** Times in records. */

/** Time in milliseconds since 1970. */
export type Instant = number

export interface Dated {
  readonly createdAt: Instant
  readonly updatedAt: Instant
}
