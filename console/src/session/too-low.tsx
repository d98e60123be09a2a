/** Shown instead of all pages if the level of the session key is too low for reading. */
import { Action } from '../parts/action.tsx'
import { useTexts } from '../texts/texts.tsx'
import { signOut } from './session.ts'

export function TooLow({ reason }: { readonly reason: string }) {
  const texts = useTexts().shell
  return (
    <main className="sign-in">
      <section className="card stack">
        <h1>{texts.tooLowTitle}</h1>
        <p>{reason}</p>
        <div className="row">
          <Action onPress={() => signOut('asked')}>{texts.signOut}</Action>
        </div>
      </section>
    </main>
  )
}
