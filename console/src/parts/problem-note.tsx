/** What went wrong, as the interface says it. */
import { Problem } from '../interface/problem.ts'
import { useTexts } from '../texts/texts.tsx'

export function ProblemNote({ error }: { readonly error: unknown }) {
  const message = useProblemText(error)
  if (message === null) return null
  return (
    <div className="note problem" role="alert">
      {message}
    </div>
  )
}

/** One sentence or several; null where there is no error. */
export function useProblemText(error: unknown): string | null {
  const texts = useTexts().parts
  if (error === null || error === undefined) return null
  if (!(error instanceof Problem)) return texts.defect(error instanceof Error ? error.message : String(error))
  if (error.status === 0) return texts.unreachable
  if (error.isStale) return texts.stale
  return error.message
}
