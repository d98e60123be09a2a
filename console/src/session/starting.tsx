/**
 * Shown until the console knows whether the browser has the session of a member. If the service could not
 * answer, the user can try again.
 */
import { useState } from 'react'
import { Action } from '../parts/action.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useTexts } from '../texts/texts.tsx'
import { SignInCard } from './sign-in-card.tsx'

export function Starting({
  problem,
  onRetry,
}: {
  readonly problem: unknown
  readonly onRetry: () => Promise<void>
}) {
  const texts = useTexts()
  const [isUnderWay, setIsUnderWay] = useState(false)
  if (problem === null) return <Skeleton />
  const retry = async (): Promise<void> => {
    setIsUnderWay(true)
    await onRetry()
    setIsUnderWay(false)
  }
  return (
    <SignInCard lead={texts.shell.signInLead}>
      <ProblemNote error={problem} />
      <div className="row">
        <Action isPending={isUnderWay} onPress={() => void retry()}>
          {texts.account.signIn.again}
        </Action>
      </div>
    </SignInCard>
  )
}
