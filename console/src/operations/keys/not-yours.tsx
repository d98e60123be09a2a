/**
 * Shown to sessions that cannot manage keys: those with an environment key, and members without a wider
 * grant.
 */
import { Action } from '../../parts/action.tsx'
import { Card } from '../../parts/page.tsx'
import { forgetSession, useAccount } from '../../session/session.ts'
import { useTexts } from '../../texts/texts.tsx'

const COMMAND = 'verdict keys list'

export function NotYours() {
  const texts = useTexts().operations.keys.notYours
  const isMember = useAccount() !== null
  if (isMember) return <p className="note">{texts.member}</p>
  return (
    <Card title={texts.title}>
      <p>{texts.text}</p>
      <p>
        {texts.todo} <code>{COMMAND}</code>
      </p>
      <div className="row">
        <Action onPress={() => forgetSession('asked')}>{texts.signOut}</Action>
      </div>
    </Card>
  )
}
