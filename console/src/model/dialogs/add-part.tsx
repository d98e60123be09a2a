/**
 * Dialog that adds a part of the model, with a key, an optional name and further fields. The undo removes the
 * part only if no other user has changed it in the meantime.
 */
import { type ReactNode, useState } from 'react'
import { type FieldProblem, Problem } from '../../interface/problem.ts'
import type { ActionLook } from '../../parts/action.tsx'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { useAdd } from './use-add.ts'

export function AddPart({
  trigger,
  look = { kind: 'quiet', isSmall: true },
  title,
  sentence,
  message,
  keyHelp,
  isNamed = true,
  add,
  remove,
  onOpen,
  onDone,
  children,
}: {
  readonly trigger: string
  readonly look?: ActionLook
  readonly title: string
  /** Sentence that describes the effect of the submit button. */
  readonly sentence: (key: string) => string
  readonly message: (key: string) => string
  /** Help text for the key; absent: the default text. */
  readonly keyHelp?: string
  /** False if the part has no name. */
  readonly isNamed?: boolean
  /** Creates the part and returns its `ETag`. If no name is given, the key is also used as the name. */
  readonly add: (part: { readonly key: string; readonly name: string }) => Promise<string | null>
  /** Removes the part if it still has the `ETag` `tag`. */
  readonly remove: (key: string, tag: string | null) => Promise<unknown>
  /** Resets the additional fields when the dialog opens. */
  readonly onOpen?: () => void
  readonly onDone?: (key: string) => void
  /** Additional fields. `problem` is the last error. */
  readonly children?: (problem: Problem | null) => ReactNode
}) {
  const texts = useTexts().model.graph
  const make = useAdd()
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  return (
    <ActionDialog
      needs="write"
      trigger={trigger}
      triggerLook={look}
      title={title}
      sentence={sentence(key)}
      submit={texts.add}
      onOpen={() => {
        setKey('')
        setName('')
        onOpen?.()
      }}
      isShownAtField={problem => aboutKey(problem) !== null}
      onSubmit={async () => {
        await make({
          add: () => add({ key, name: name === '' ? key : name }),
          message: message(key),
          remove: tag => remove(key, tag),
        })
        onDone?.(key)
      }}
    >
      {problem => {
        const refused = problem instanceof Problem ? problem : null
        return (
          <>
            <TextInput
              label={texts.key}
              value={key}
              onChange={setKey}
              description={keyHelp ?? texts.keyHelp}
              problem={aboutKey(refused)}
              isRequired
              autoFocus
            />
            {isNamed ? (
              <TextInput
                label={texts.name}
                value={name}
                onChange={setName}
                problem={refused?.about('name')}
              />
            ) : null}
            {children?.(refused)}
          </>
        )
      }}
    </ActionDialog>
  )
}

/** Error about the key: it is invalid or already in use. Null if the error is not about the key. */
function aboutKey(problem: unknown): FieldProblem | null {
  if (!(problem instanceof Problem)) return null
  return problem.status === 409 ? problem : problem.about('key')
}
