/** Dialog that adds an action group to a type: one name for several actions. */
import { useState } from 'react'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { addActionGroup, removeActionGroup } from '../model-writes.ts'
import { ActionsChoice } from './actions-choice.tsx'
import { AddPart } from './add-part.tsx'

export function AddActionGroup({
  type,
  actions,
}: {
  readonly type: string
  readonly actions: readonly string[]
}) {
  const texts = useTexts().model.graph.addActionGroup
  const { path } = useCurrentEnvironment()
  const [members, setMembers] = useState<readonly string[]>([])
  return (
    <AddPart
      trigger={texts.open}
      title={texts.title(type)}
      sentence={key => texts.sentence(key, type, members.join(', '))}
      message={key => texts.done(key, type)}
      onOpen={() => setMembers([])}
      add={part => addActionGroup(path, type, { ...part, actions: [...members] })}
      remove={(key, tag) => removeActionGroup(path, type, key, tag)}
    >
      {() => <ActionsChoice label={texts.actions} actions={actions} chosen={members} onChange={setMembers} />}
    </AddPart>
  )
}
