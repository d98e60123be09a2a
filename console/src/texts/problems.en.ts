/** Texts for API errors. The messages of the service are in English and are shown unchanged. */
import type { Schemas } from '../interface/client.ts'

export type ProblemCode = Schemas['ManagementErrorCode']

export interface ProblemTexts {
  /**
   * Sentence before the message of the service; null if the messages are in this language. The compiler
   * reports a code without a text. For a code that only a newer service knows, only the message is shown.
   */
  readonly first: {
    readonly codes: Readonly<Record<ProblemCode, string>>
    /**
     * Sentences by status, for errors without a code and for the general codes `INVALID_INPUT` and
     * `UNEXPECTED_ERROR`.
     */
    readonly statuses: Readonly<Record<number, string>>
  } | null
  /** Introduces the message of the service after the first sentence. */
  readonly words: string
  /** Texts next to a field, by the kind of the finding. */
  readonly fields: {
    readonly missing: string
    readonly tooLong: (most: string) => string
    /** Allowed characters and maximum length of a key. */
    readonly key: (most: string) => string
    readonly moment: string
    readonly exists: string
    /** Text for other findings; null if the message of the service is sufficient. */
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
