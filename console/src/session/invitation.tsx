/** Page to which the link of an invitation leads. The sign-in that begins here accepts the invitation. */
import { ActionLink } from '../parts/action.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useTexts } from '../texts/texts.tsx'
import { IssuerButton } from './issuer-button.tsx'
import { useAccount } from './session.ts'
import { SignInCard } from './sign-in-card.tsx'
import { useSignInWays } from './use-ways.ts'

export function Invitation({ code }: { readonly code: string }) {
  const texts = useTexts().account.invitation
  const account = useAccount()
  const { data: ways, error } = useSignInWays()
  return (
    <SignInCard lead={texts.lead}>
      <ProblemNote error={error} />
      {ways === undefined ? (
        error === null && <Skeleton />
      ) : ways.oidc === null ? (
        <p>{texts.off}</p>
      ) : (
        <>
          <p>{texts.text(ways.oidc.name)}</p>
          {account === null ? null : (
            <p className="soft">{texts.signedIn(account.member.name ?? account.member.email ?? '')}</p>
          )}
          <IssuerButton issuer={ways.oidc.name} invite={code} autoFocus />
          {account === null ? null : <ActionLink to="/">{texts.skip}</ActionLink>}
        </>
      )}
    </SignInCard>
  )
}
