/**
 * Dialog that declares an attribute of a type. The conditions editor checks conditions against the declared
 * attributes.
 */
import { useState } from 'react'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { AttributeKind } from '../model-edits.ts'
import { addAttribute, removeAttribute } from '../model-writes.ts'
import { AddPart } from './add-part.tsx'
import { KindChoice } from './kind-choice.tsx'

export function AddAttribute({ type }: { readonly type: string }) {
  const texts = useTexts().model.graph.addAttribute
  const { path } = useCurrentEnvironment()
  const [kind, setKind] = useState<AttributeKind>('string')
  return (
    <AddPart
      trigger={texts.open}
      title={texts.title(type)}
      sentence={key => texts.sentence(key, type)}
      message={key => texts.done(key, type)}
      keyHelp={texts.keyHelp}
      isNamed={false}
      onOpen={() => setKind('string')}
      add={({ key }) => addAttribute(path, type, { key, type: kind })}
      remove={(key, tag) => removeAttribute(path, type, key, tag)}
    >
      {problem => <KindChoice value={kind} onChange={setKind} problem={problem?.about('type')} />}
    </AddPart>
  )
}
