/** Texts for API errors. The service sends its messages in English, and they are shown unchanged. */
import type { Schemas } from '../interface/client.ts'

export type ProblemCode = Schemas['ManagementErrorCode']

export interface ProblemTexts {
  /**
   * Sentence that is shown before the message of the service. Null if the messages are already in this
   * language. The compiler reports a code that has no text. If only a newer service knows the code, only the
   * message is shown.
   */
  readonly first: {
    readonly codes: Readonly<Record<ProblemCode, string>>
    /**
     * Sentences by HTTP status. They are used for errors without a code and for the general codes
     * `INVALID_INPUT` and `UNEXPECTED_ERROR`.
     */
    readonly statuses: Readonly<Record<number, string>>
  } | null
  /** Words between the first sentence and the message of the service. */
  readonly words: string
  /** Texts next to a field, by the kind of the finding. */
  readonly fields: {
    readonly missing: string
    readonly tooLong: (most: string) => string
    /** Allowed characters and maximum length of a key. */
    readonly key: (most: string) => string
    readonly moment: string
    readonly exists: string
    /** Text for all other findings. Null if the message of the service is sufficient. */
    readonly other: string | null
  }
}

export const problemsEn: ProblemTexts = {
  first: null,
  words: 'Message of the service:',
  fields: {
    missing: 'This field is required.',
    tooLong: most => `The value is too long. It can have at most ${most} characters.`,
    key: most => `Use only letters, digits, - and _, and at most ${most} characters.`,
    moment: 'This is not a valid date and time.',
    exists: 'This name is already in use.',
    other: null,
  },
}
