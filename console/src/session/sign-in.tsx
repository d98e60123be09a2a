/**
 * Sign-in page. If sign-in at an issuer is switched on, a button leads to it. The service checks a typed key
 * before the console stores it.
 */
import { useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { SERVICE } from '../interface/base-url.ts'
import { Problem } from '../interface/problem.ts'
import { Action } from '../parts/action.tsx'
import { TextInput } from '../parts/fields.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote, useProblemText } from '../parts/problem-note.tsx'
import { useTexts } from '../texts/texts.tsx'
import type { Arrival } from './arrival.ts'
import { IssuerButton } from './issuer-button.tsx'
import { type Session, signInWithKey } from './session.ts'
import { SignInCard } from './sign-in-card.tsx'
import { useSignInWays } from './use-ways.ts'

export function SignIn({
  session,
  arrival,
}: {
  readonly session: Session & { readonly kind: 'none' }
  readonly arrival: Arrival | null
}) {
  const texts = useTexts().shell
  const { data: ways, error } = useSignInWays()
  return (
    <SignInCard lead={texts.signInLead}>
      <ProblemNote error={error} />
      {ways === undefined ? (
        error === null && <Skeleton />
      ) : (
        <>
          {ways.oidc === null ? null : (
            <>
              <Reason session={session} arrival={arrival} issuer={ways.oidc.name} />
              <IssuerButton issuer={ways.oidc.name} autoFocus />
            </>
          )}
          {ways.oidc !== null && ways.key ? <p className="or">{texts.or}</p> : null}
          {ways.key ? (
            <KeyForm
              isRefused={session.endedBy === 'refused' && !session.wasMember}
              isOnly={ways.oidc === null}
            />
          ) : null}
        </>
      )}
    </SignInCard>
  )
}

/** Why the user sees this page: the sign-in failed, or the session ended. */
function Reason({
  session: { endedBy, wasMember, endSessionUrl },
  arrival,
  issuer,
}: {
  readonly session: Session & { readonly kind: 'none' }
  readonly arrival: Arrival | null
  readonly issuer: string
}) {
  const texts = useTexts().account.signIn
  if (endedBy === null && arrival?.kind === 'refused')
    return (
      <div className="note problem" role="alert">
        <span>{texts.refusals[arrival.refusal](issuer)}</span>
      </div>
    )
  if (endedBy === null && arrival?.kind === 'signed-in')
    return (
      <div className="note problem" role="alert">
        <span>{texts.noCookie}</span>
      </div>
    )
  if (endedBy === null || !wasMember) return null
  return (
    <div className="note" role="status">
      <span>{endedBy === 'refused' ? texts.ended : texts.signedOut}</span>
      {endSessionUrl === null ? null : (
        <span>
          {texts.stillAtIssuer(issuer)} <a href={endSessionUrl}>{texts.signOutAtIssuer(issuer)}</a>
        </span>
      )}
    </div>
  )
}

function KeyForm({ isRefused, isOnly }: { readonly isRefused: boolean; readonly isOnly: boolean }) {
  const texts = useTexts().shell
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState<unknown>(null)
  const [isUnderWay, setIsUnderWay] = useState(false)
  const problemText = useProblemText(problem)
  const enter = async (): Promise<void> => {
    setIsUnderWay(true)
    setProblem(null)
    try {
      await checkKey(key)
      signInWithKey(key)
    } catch (refused) {
      setProblem(refused)
      setIsUnderWay(false)
    }
  }
  const isKeyRefused = problem instanceof Problem && problem.status === 401
  const keyError = isKeyRefused || (problem === null && isRefused) ? texts.keyRefused : problemText
  return (
    <Form
      className="stack"
      onSubmit={event => {
        event.preventDefault()
        void enter()
      }}
    >
      <TextInput
        label={texts.key}
        description={texts.keyHelp}
        type="password"
        value={key}
        onChange={value => setKey(value.trim())}
        problem={keyError}
        autoFocus={isOnly}
        isRequired
      />
      <Action
        type="submit"
        kind={isOnly ? 'primary' : 'plain'}
        isPending={isUnderWay}
        isDisabled={key === ''}
      >
        {isOnly ? texts.signIn : texts.signInWithKey}
      </Action>
    </Form>
  )
}

/** Rejects if the service does not accept the key. */
async function checkKey(key: string): Promise<void> {
  // Characters that are not valid in a header are escaped. A text with such characters cannot be a key, and
  // the service rejects it.
  const headers = { authorization: `Bearer ${encodeURI(key)}` }
  const response = await fetch(`${SERVICE}/v2/api-key/scope`, { headers }).catch(() => {
    throw Problem.unreachable()
  })
  if (!response.ok) throw Problem.of(response, await response.json().catch(() => null))
}
