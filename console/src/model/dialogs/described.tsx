/** Form fields that many parts of the model share: name, description and attributes. */
import { attributesIn, attributesText } from '../../interface/attributes.ts'
import { LongTextInput, TextInput } from '../../parts/fields.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { Edit } from './edit-part.tsx'

export interface NamedDraft {
  readonly name: string
  readonly description: string
}

export interface DescribedDraft extends NamedDraft {
  /** Attributes as JSON text. Empty if there are none. */
  readonly attributes: string
}

export const BLANK_NAMED: NamedDraft = { name: '', description: '' }
export const BLANK_DESCRIBED: DescribedDraft = { ...BLANK_NAMED, attributes: '' }

export function namedDraftOf(thing: {
  readonly name: string
  readonly description: string | null
}): NamedDraft {
  return { name: thing.name, description: thing.description ?? '' }
}

export function describedDraftOf(
  thing: Parameters<typeof namedDraftOf>[0] & {
    readonly attributes: Readonly<Record<string, unknown>> | null
  },
): DescribedDraft {
  return { ...namedDraftOf(thing), attributes: attributesText(thing.attributes) }
}

export function namedChangeOf({ name, description }: NamedDraft) {
  return { name, description: description === '' ? null : description }
}

/** Request body for the draft. Null if the attributes are not a JSON object. */
export function describedChangeOf(draft: DescribedDraft) {
  const attributes = attributesIn(draft.attributes)
  return attributes === null ? null : { ...namedChangeOf(draft), attributes: attributes ?? null }
}

export function NamedFields({ draft, set, isRead, now, problem }: Edit<NamedDraft>) {
  const texts = useTexts().model.graph
  return (
    <>
      <TextInput
        label={texts.name}
        value={draft.name}
        onChange={name => set({ name })}
        description={now === null ? undefined : texts.edit.now(now.name)}
        problem={problem?.about('name')}
        isReadOnly={!isRead}
        isRequired
        autoFocus
      />
      <TextInput
        label={texts.edit.description}
        value={draft.description}
        onChange={description => set({ description })}
        description={now === null ? undefined : texts.edit.now(now.description)}
        problem={problem?.about('description')}
        isReadOnly={!isRead}
      />
    </>
  )
}

export function DescribedFields(edit: Edit<DescribedDraft>) {
  const texts = useTexts().model.graph.edit
  const { draft, set, isRead, now, problem } = edit
  const isNoObject = attributesIn(draft.attributes) === null
  return (
    <>
      <NamedFields {...edit} set={set} />
      <LongTextInput
        label={texts.attributes}
        value={draft.attributes}
        onChange={attributes => set({ attributes })}
        description={now === null ? texts.attributesHelp : texts.now(now.attributes)}
        problem={isNoObject ? texts.noObject : problem?.about('attributes')}
        isReadOnly={!isRead}
        rows={3}
      />
    </>
  )
}
