/** Button that ends the session. A member also sees who is signed in. */
import { useState } from 'react'
import { Link } from 'wouter'
import { Action } from '../parts/action.tsx'
import { notifyProblem } from '../parts/toasts.tsx'
import { leave } from '../shell/leaving.ts'
import { ACCOUNT } from '../shell/links.ts'
import { useTexts } from '../texts/texts.tsx'
import { nameOfMember } from './account.ts'
import { endSession } from './member-session.ts'
import { forgetSession, useAccount } from './session.ts'

export function SignOut({ isSmall = true }: { readonly isSmall?: boolean }) {
  const { shell } = useTexts()
  const account = useAccount()
  const [isUnderWay, setIsUnderWay] = useState(false)
  const end = async (): Promise<void> => {
    if (account === null) return forgetSession('asked')
    setIsUnderWay(true)
    await endSession(account).catch(notifyProblem)
    setIsUnderWay(false)
  }
  return (
    <Action isSmall={isSmall} isPending={isUnderWay} onPress={() => leave(() => void end())}>
      {shell.signOut}
    </Action>
  )
}

/** Link to the account of the member who is signed in. Keys have none. */
export function AccountLink() {
  const { account: texts } = useTexts()
  const account = useAccount()
  if (account === null) return null
  const name = nameOfMember(account.member)
  return (
    <Link href={ACCOUNT} className="account-link" aria-label={texts.linkOf(name)} title={texts.linkOf(name)}>
      {name}
    </Link>
  )
}
