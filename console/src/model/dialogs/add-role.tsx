/** Dialog that adds a role to a type, or a tenant role if `type` is null. */
import { useState } from 'react'
import type { ActionLook } from '../../parts/action.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { addRole, removeRole } from '../model-writes.ts'
import { ActionsChoice } from './actions-choice.tsx'
import { AddPart } from './add-part.tsx'

/** `actions` are the actions of the type. The new role can get permissions for them immediately. */
export function AddRole({
  type,
  actions = [],
  look,
}: {
  readonly type: string | null
  readonly actions?: readonly string[]
  readonly look?: ActionLook
}) {
  const texts = useTexts().model.graph.addRole
  const { path } = useCurrentEnvironment()
  const [given, setGiven] = useState<readonly string[]>([])
  return (
    <AddPart
      trigger={texts.open}
      {...(look === undefined ? {} : { look })}
      title={type === null ? texts.tenantTitle : texts.title(type)}
      sentence={key =>
        type === null ? texts.tenantSentence(key) : texts.sentence(key, type, given.join(', '))
      }
      message={texts.done}
      onOpen={() => setGiven([])}
      add={part => addRole(path, type, { ...part, permissions: [...given] })}
      remove={(key, tag) => removeRole(path, type, key, tag)}
    >
      {() => <ActionsChoice label={texts.may} actions={actions} chosen={given} onChange={setGiven} />}
    </AddPart>
  )
}
