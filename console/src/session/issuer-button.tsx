/** Button that leads to the sign-in page of the issuer. */
import { useState } from 'react'
import { Problem } from '../interface/problem.ts'
import { Action } from '../parts/action.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useAddress } from '../shell/address.ts'
import { useTexts } from '../texts/texts.tsx'
import { beginSignIn } from './member-session.ts'

/** Status of the response if the issuer does not respond. */
const UNAVAILABLE = 503

export function IssuerButton({
  issuer,
  invite = null,
  autoFocus = false,
}: {
  readonly issuer: string
  /** Code of the invitation that the sign-in accepts. */
  readonly invite?: string | null
  readonly autoFocus?: boolean
}) {
  const texts = useTexts().account.signIn
  const [address] = useAddress()
  const [problem, setProblem] = useState<unknown>(null)
  const [isUnderWay, setIsUnderWay] = useState(false)
  const begin = async (): Promise<void> => {
    setIsUnderWay(true)
    setProblem(null)
    try {
      await beginSignIn(address, invite)
    } catch (refused) {
      setProblem(refused)
    }
    // The browser keeps this page while it loads the next one. After Back, the button must work again.
    setIsUnderWay(false)
  }
  return (
    <>
      <Action kind="primary" isPending={isUnderWay} autoFocus={autoFocus} onPress={() => void begin()}>
        {texts.withIssuer(issuer)}
      </Action>
      {problem instanceof Problem && problem.status === UNAVAILABLE ? (
        <p className="note problem" role="alert">
          {texts.refusals.unavailable(issuer)}
        </p>
      ) : (
        <ProblemNote error={problem} />
      )}
    </>
  )
}
