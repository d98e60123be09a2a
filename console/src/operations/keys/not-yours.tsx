/** Shown to sessions with an environment key, which cannot manage keys. */
import { Action } from '../../parts/action.tsx'
import { Card } from '../../parts/page.tsx'
import { signOut } from '../../session/session.ts'
import { useTexts } from '../../texts/texts.tsx'

const COMMAND = 'verdict keys list'

export function NotYours() {
  const texts = useTexts().operations.keys.notYours
  return (
    <Card title={texts.title}>
      <p>{texts.text}</p>
      <p>
        {texts.todo} <code>{COMMAND}</code>
      </p>
      <div className="row">
        <Action onPress={() => signOut('asked')}>{texts.signOut}</Action>
      </div>
    </Card>
  )
}
