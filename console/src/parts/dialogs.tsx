/**
 * Dialogs: a question before something is done, which says in a sentence what it does, and a form. Either shows what the interface says
 * where it refuses, and stays open then.
 */
import { type ReactNode, useState } from 'react'
import { Dialog, DialogTrigger, Heading } from 'react-aria-components/Dialog'
import { Form } from 'react-aria-components/Form'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { useTexts } from '../texts/texts.tsx'
import { Action, type ActionLook } from './action.tsx'
import { ProblemNote } from './problem-note.tsx'

interface DialogLook {
  /** What is pressed to open it. */
  readonly trigger: ReactNode
  readonly triggerLook?: ActionLook
  readonly triggerLabel?: string
  readonly title: string
  /** What pressing the last button does, in one sentence. */
  readonly sentence: ReactNode
  readonly submit: string
  readonly isDanger?: boolean
  readonly isWide?: boolean
  /** Rejects where it was refused. */
  readonly onSubmit: () => Promise<unknown>
  readonly onOpen?: () => void
  /** Whether a field says already what was refused: it is not said twice. */
  readonly isSaidBeside?: (problem: unknown) => boolean
}

/** `children`: the fields, given what was refused last; absent: the sentence is all there is to read. */
export function ActionDialog({
  trigger,
  triggerLook,
  triggerLabel,
  onOpen,
  isWide = false,
  ...rest
}: DialogLook & { readonly children?: (problem: unknown) => ReactNode }) {
  const [isOpen, setIsOpen] = useState(false)
  const toggle = (opens: boolean): void => {
    setIsOpen(opens)
    if (opens) onOpen?.()
  }
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={toggle}>
      <Action {...triggerLook} {...(triggerLabel === undefined ? {} : { 'aria-label': triggerLabel })}>
        {trigger}
      </Action>
      <ModalOverlay className="veil" isDismissable>
        <Modal className={`dialog-box appears ${isWide ? 'wide' : ''}`}>
          <DialogForm {...rest} onDone={() => setIsOpen(false)} />
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  )
}

function DialogForm({
  title,
  sentence,
  submit,
  isDanger = false,
  onSubmit,
  isSaidBeside,
  onDone,
  children,
}: Omit<DialogLook, 'trigger'> & {
  readonly children?: (problem: unknown) => ReactNode
  readonly onDone: () => void
}) {
  const texts = useTexts().parts
  const [problem, setProblem] = useState<unknown>(null)
  const [isUnderWay, setIsUnderWay] = useState(false)
  const send = async (): Promise<void> => {
    setIsUnderWay(true)
    setProblem(null)
    try {
      await onSubmit()
      onDone()
    } catch (refused) {
      setProblem(refused)
      setIsUnderWay(false)
    }
  }
  return (
    <Dialog className="dialog" {...(isDanger ? { role: 'alertdialog' as const } : {})}>
      <Form
        className="stack"
        onSubmit={event => {
          event.preventDefault()
          void send()
        }}
      >
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children?.(problem)}
        <p>{sentence}</p>
        {isSaidBeside?.(problem) ? null : <ProblemNote error={problem} />}
        <div className="buttons">
          <Action slot="close">{texts.cancel}</Action>
          <Action
            type="submit"
            kind={isDanger ? 'danger' : 'primary'}
            isPending={isUnderWay}
            autoFocus={children === undefined}
          >
            {submit}
          </Action>
        </div>
      </Form>
    </Dialog>
  )
}
