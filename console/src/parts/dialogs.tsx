/**
 * Dialogs: a question before something is done, which says in a sentence what it does, and a form. Either shows what the interface says
 * where it refuses, and stays open then.
 */
import { type ReactNode, useRef, useState } from 'react'
import { Dialog, DialogTrigger, Heading } from 'react-aria-components/Dialog'
import { Form } from 'react-aria-components/Form'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { useTexts } from '../texts/texts.tsx'
import { Action, type ActionLook } from './action.tsx'
import { ProblemNote } from './problem-note.tsx'

/** What is to be read when it is done. The dialog stays for it until `close` is pressed, and nothing else closes it. */
interface Outcome<Result> {
  readonly title: string
  readonly content: (result: Result) => ReactNode
  readonly close: string
}

interface DialogLook<Result> {
  /** What is pressed to open it. */
  readonly trigger: ReactNode
  readonly triggerLook?: ActionLook
  readonly triggerLabel?: string
  readonly title: string
  /** What pressing the last button does, in one sentence. */
  readonly sentence: ReactNode
  readonly submit: string
  readonly isDanger?: boolean
  /** False: what is to be sent is not there yet. */
  readonly isReady?: boolean
  readonly isWide?: boolean
  /** Rejects where it was refused. */
  readonly onSubmit: () => Promise<Result>
  readonly onOpen?: () => void
  /** Whether a field says already what was refused: it is not said twice. */
  readonly isSaidBeside?: (problem: unknown) => boolean
  /** Absent: it closes when it is done. */
  readonly outcome?: Outcome<Result>
  readonly onClose?: () => void
}

/** `children`: the fields, given what was refused last; absent: the sentence is all there is to read. */
export function ActionDialog<Result>({
  trigger,
  triggerLook,
  triggerLabel,
  onOpen,
  onClose,
  isWide = false,
  ...rest
}: DialogLook<Result> & { readonly children?: (problem: unknown) => ReactNode }) {
  const [isOpen, setIsOpen] = useState(false)
  const [isKept, setIsKept] = useState(false)
  const toggle = (opens: boolean): void => {
    setIsOpen(opens)
    setIsKept(false)
    if (opens) onOpen?.()
    else onClose?.()
  }
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={toggle}>
      <Action {...triggerLook} {...(triggerLabel === undefined ? {} : { 'aria-label': triggerLabel })}>
        {trigger}
      </Action>
      <ModalOverlay className="veil" isDismissable={!isKept} isKeyboardDismissDisabled={isKept}>
        <Modal className={`dialog-box appears ${isWide ? 'wide' : ''}`}>
          <DialogForm {...rest} onDone={() => toggle(false)} onOutcome={() => setIsKept(true)} />
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  )
}

function DialogForm<Result>({
  title,
  sentence,
  submit,
  isDanger = false,
  isReady = true,
  onSubmit,
  isSaidBeside,
  onDone,
  outcome,
  onOutcome,
  children,
}: Omit<DialogLook<Result>, 'trigger'> & {
  readonly children?: (problem: unknown) => ReactNode
  readonly onDone: () => void
  readonly onOutcome: () => void
}) {
  const texts = useTexts().parts
  const [problem, setProblem] = useState<unknown>(null)
  const [isUnderWay, setIsUnderWay] = useState(false)
  const [done, setDone] = useState<{ readonly result: Result } | null>(null)
  // Whatever the button shows by then: twice pressed is once asked.
  const sending = useRef(false)
  const send = async (): Promise<void> => {
    // Enter in a field sends, too.
    if (!isReady || sending.current) return
    sending.current = true
    setIsUnderWay(true)
    setProblem(null)
    try {
      const result = await onSubmit()
      if (outcome === undefined) return onDone()
      setDone({ result })
      onOutcome()
    } catch (refused) {
      setProblem(refused)
      setIsUnderWay(false)
      sending.current = false
    }
  }
  if (outcome !== undefined && done !== null) {
    return (
      <Dialog className="dialog">
        <Heading slot="title" level={2}>
          {outcome.title}
        </Heading>
        {outcome.content(done.result)}
        <div className="buttons">
          <Action kind="primary" onPress={onDone}>
            {outcome.close}
          </Action>
        </div>
      </Dialog>
    )
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
            isDisabled={!isReady}
            autoFocus={children === undefined}
          >
            {submit}
          </Action>
        </div>
      </Form>
    </Dialog>
  )
}
