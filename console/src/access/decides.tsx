/** Questions of access are for keys of an environment: the others manage, and do not decide. */
import { useScope } from '../session/scope.ts'
import { useTexts } from '../texts/texts.tsx'

/** Null: not known yet. */
export function useDecides(): boolean | null {
  const { data } = useScope()
  return data === undefined ? null : Boolean(data.environment_id)
}

export function DecidesNotNote() {
  const said = useTexts().access
  return <p className="note">{said.decidesNot}</p>
}
