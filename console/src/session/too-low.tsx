/** Shown instead of all pages if the level of the session is too low for reading. */
import { useTexts } from '../texts/texts.tsx'
import { useAccount } from './session.ts'
import { SignOut } from './sign-out.tsx'

export function TooLow({ reason }: { readonly reason: string }) {
  const { shell, account } = useTexts()
  const isMember = useAccount() !== null
  return (
    <main className="sign-in">
      <section className="card stack">
        <h1>{isMember ? account.tooLowTitle : shell.tooLowTitle}</h1>
        <p>{reason}</p>
        <div className="row">
          <SignOut isSmall={false} />
        </div>
      </section>
    </main>
  )
}
