/** Errors of the interface, for readers. The service itself speaks English: what it says of a request is shown as it is. */
import type { Schemas } from '../interface/client.ts'

export type ProblemCode = Schemas['ManagementErrorCode']

export interface ProblemTexts {
  /**
   * What is said first, before the service's own words. Null: those are in this language. A code without a text does not compile; one that
   * only a newer service knows is shown in the service's words.
   */
  readonly first: {
    readonly codes: Readonly<Record<ProblemCode, string>>
    /** What a status says more closely than `INVALID_INPUT` and `UNEXPECTED_ERROR`, and of errors without a code. */
    readonly statuses: Readonly<Record<number, string>>
  } | null
  /** The service's own words, behind what is said first. */
  readonly words: string
  /** What is said beside a field, by what the finding is about. */
  readonly fields: {
    readonly missing: string
    readonly tooLong: (most: string) => string
    /** Of a key: which characters, and how many. */
    readonly key: (most: string) => string
    readonly moment: string
    readonly exists: string
    /** Anything else; null: the service's own words say it. */
    readonly other: string | null
  }
}

export const problemsEn: ProblemTexts = {
  first: null,
  words: 'The service says:',
  fields: {
    missing: 'This is required.',
    tooLong: most => `This is too long: it may have ${most} characters at most.`,
    key: most => `Only letters, digits, - and _ may be in it, and at most ${most} of them.`,
    moment: 'This is no date and time.',
    exists: 'There is one of that name already.',
    other: null,
  },
}
