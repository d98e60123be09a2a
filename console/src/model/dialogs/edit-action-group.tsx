/** Dialog that edits an action group: its actions, name, description and attributes. */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { editableActionGroup } from '../model-edits.ts'
import { ActionsChoice } from './actions-choice.tsx'
import { BLANK_DESCRIBED, describedChangeOf, describedDraftOf, DescribedFields } from './described.tsx'
import { EditPart } from './edit-part.tsx'

export function EditActionGroup({
  type,
  group,
  actions,
}: {
  readonly type: string
  readonly group: string
  /** Actions of the type. */
  readonly actions: readonly string[]
}) {
  const { editActionGroup: texts, edit: common, addActionGroup } = useTexts().model.graph
  const { path } = useCurrentEnvironment()
  return (
    <EditPart
      label={texts.label(group)}
      title={texts.title(group, type)}
      sentence={({ members }) => texts.sentence(group, members.join(', '))}
      message={texts.done(group, type)}
      editable={editableActionGroup(path, type, group)}
      blank={{ ...BLANK_DESCRIBED, members: [] as readonly string[] }}
      draftOf={thing => ({ ...describedDraftOf(thing), members: thing.actions })}
      changeOf={({ members, ...draft }) => {
        const change = describedChangeOf(draft)
        return change && { ...change, actions: [...members] }
      }}
    >
      {edit => (
        <>
          <DescribedFields {...edit} />
          <ActionsChoice
            label={addActionGroup.actions}
            actions={actions}
            chosen={edit.draft.members}
            onChange={members => edit.set({ members })}
            description={edit.now === null ? undefined : common.now(edit.now.members.join(', '))}
          />
        </>
      )}
    </EditPart>
  )
}
