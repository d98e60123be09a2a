/** Dialog that adds an action to a type. */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { addAction, removeAction } from '../model-writes.ts'
import { AddPart } from './add-part.tsx'

export function AddAction({ type }: { readonly type: string }) {
  const texts = useTexts().model.graph.addAction
  const { path } = useCurrentEnvironment()
  return (
    <AddPart
      trigger={texts.open}
      title={texts.title(type)}
      sentence={key => texts.sentence(key, type)}
      message={key => texts.done(key, type)}
      add={part => addAction(path, type, part)}
      remove={(key, tag) => removeAction(path, type, key, tag)}
    />
  )
}
