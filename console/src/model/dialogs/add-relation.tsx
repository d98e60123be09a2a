/**
 * Dialog that adds a relation. The user selects the type of the subjects that can be related to objects of
 * this type.
 */
import { useState } from 'react'
import { completeTypes } from '../../interface/completions.ts'
import { KeyInput } from '../../parts/fields.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { MODEL_NOUNS } from '../model-reads.ts'
import { addRelation, removeRelation } from '../model-writes.ts'
import { AddPart } from './add-part.tsx'

export function AddRelation({ type }: { readonly type: string }) {
  const texts = useTexts().model.graph.addRelation
  const environment = useCurrentEnvironment()
  const [subject, setSubject] = useState('')
  return (
    <AddPart
      trigger={texts.open}
      title={texts.title(type)}
      sentence={key => texts.sentence(key, subject, type)}
      message={key => texts.done(key, subject, type)}
      keyHelp={texts.keyHelp}
      isNamed={false}
      onOpen={() => setSubject('')}
      add={part => addRelation(environment.path, type, { ...part, subject_resource: subject })}
      remove={(key, tag) => removeRelation(environment.path, type, key, tag)}
    >
      {problem => (
        <KeyInput
          label={texts.subject}
          value={subject}
          onChange={setSubject}
          description={texts.subjectHelp(type)}
          queryKey={environment.key(MODEL_NOUNS, 'type-options')}
          load={completeTypes(environment)}
          problem={problem?.status === 404 ? problem : problem?.about('subject_resource')}
          isRequired
        />
      )}
    </AddPart>
  )
}
