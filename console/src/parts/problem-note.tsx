/** Shows an error to the user. */
import { useTexts } from '../texts/texts.tsx'
import { type ProblemText, problemText } from './problem-text.ts'

export function ProblemNote({ error }: { readonly error: unknown }) {
  const text = problemText(error, useTexts())
  if (text === null) return null
  return (
    <div className="note problem" role="alert">
      <span>
        <ProblemSentence {...text} />
      </span>
    </div>
  )
}

export function ProblemSentence({ sentence, words }: ProblemText) {
  const { words: serviceIntro } = useTexts().problems
  if (words === null) return sentence
  return (
    <>
      {sentence === '' ? null : `${sentence} ${serviceIntro} `}
      <span lang="en">{words}</span>
    </>
  )
}

/** The error as plain text, for places that cannot contain elements. Null if there is no error. */
export function useProblemText(error: unknown): string | null {
  const texts = useTexts()
  const text = problemText(error, texts)
  if (text === null) return null
  const { sentence, words } = text
  if (words === null) return sentence
  return sentence === '' ? words : `${sentence} ${texts.problems.words} ${words}`
}
