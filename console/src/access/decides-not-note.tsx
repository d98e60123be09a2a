/** Note that the key of the session cannot request access decisions, with the reason. */
import type { Decides } from '../session/decides.ts'
import { useTexts } from '../texts/texts.tsx'

export function DecidesNotNote({ decides }: { readonly decides: Decides | null }) {
  const { access, questions } = useTexts()
  if (decides === null || decides === 'here') return null
  return <p className="note">{decides === 'not' ? access.decidesNot : questions.mayNot.elsewhere}</p>
}
