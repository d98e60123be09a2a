/** Dialog that edits the name and description of a type. */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { editableType } from '../model-edits.ts'
import { BLANK_NAMED, namedChangeOf, namedDraftOf, NamedFields } from './described.tsx'
import { EditPart } from './edit-part.tsx'

export function EditType({ type }: { readonly type: string }) {
  const texts = useTexts().model.graph.editType
  const { path } = useCurrentEnvironment()
  return (
    <EditPart
      look={{ isSmall: true }}
      label={texts.label(type)}
      title={texts.title(type)}
      sentence={texts.sentence(type)}
      message={texts.done(type)}
      editable={editableType(path, type)}
      blank={BLANK_NAMED}
      draftOf={namedDraftOf}
      changeOf={namedChangeOf}
    >
      {edit => <NamedFields {...edit} />}
    </EditPart>
  )
}
