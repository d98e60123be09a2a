/** Dialog that edits the name, description and attributes of an action. */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { editableAction } from '../model-edits.ts'
import { BLANK_DESCRIBED, describedChangeOf, describedDraftOf, DescribedFields } from './described.tsx'
import { EditPart } from './edit-part.tsx'

export function EditAction({ type, action }: { readonly type: string; readonly action: string }) {
  const texts = useTexts().model.graph.editAction
  const { path } = useCurrentEnvironment()
  return (
    <EditPart
      label={texts.label(action)}
      title={texts.title(action, type)}
      sentence={texts.sentence(action, type)}
      message={texts.done(action, type)}
      editable={editableAction(path, type, action)}
      blank={BLANK_DESCRIBED}
      draftOf={describedDraftOf}
      changeOf={describedChangeOf}
    >
      {edit => <DescribedFields {...edit} />}
    </EditPart>
  )
}
