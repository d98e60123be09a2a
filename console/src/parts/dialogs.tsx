/**
 * Two kinds of dialogs: a confirmation, which has a sentence about the effect of an action, and a form. If
 * the action fails, the dialog stays open and shows the error.
 */
import { type ReactNode, useRef, useState } from 'react'
import { Dialog, DialogTrigger, Heading } from 'react-aria-components/Dialog'
import { Form } from 'react-aria-components/Form'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { type Level } from '../session/held.ts'
import { useTooLow } from '../session/level.ts'
import { useTexts } from '../texts/texts.tsx'
import { Action, type ActionLook } from './action.tsx'
import { ProblemNote } from './problem-note.tsx'

/** Content that is shown after the action. The dialog stays open until the user presses `close`. */
interface Outcome<Result> {
  readonly title: string
  readonly content: (result: Result) => ReactNode
  readonly close: string
}

interface DialogLook<Result> {
  /** Level that the action needs. If the session has a lower one, the action is not offered. */
  readonly needs: Level
  /** Whether a grant that is limited to tenants also permits the action. */
  readonly isDelegable?: boolean
  /** Text of the button that opens the dialog. */
  readonly trigger: ReactNode
  readonly triggerLook?: ActionLook
  readonly triggerLabel?: string
  readonly title: string
  /** Effect of the submit button, described in one sentence. */
  readonly sentence: ReactNode
  readonly submit: string
  readonly isDanger?: boolean
  /** False while the form is incomplete. */
  readonly isReady?: boolean
  readonly isWide?: boolean
  /** Rejects if the action failed. */
  readonly onSubmit: () => Promise<Result>
  readonly onOpen?: () => void
  /** Whether a field already shows the error. If so, the dialog does not repeat it. */
  readonly isShownAtField?: (problem: unknown) => boolean
  /** Content after the action. If absent, the dialog closes after the action. */
  readonly outcome?: Outcome<Result>
  readonly onClose?: () => void
}

/**
 * `children` renders the fields; its argument is the last error. If absent, the dialog contains only the
 * sentence.
 */
export function ActionDialog<Result>({
  needs,
  isDelegable = false,
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
  const reason = useTooLow(needs, isDelegable)
  const toggle = (opens: boolean): void => {
    setIsOpen(opens)
    setIsKept(false)
    if (opens) onOpen?.()
    else onClose?.()
  }
  const look = { ...triggerLook, ...(triggerLabel === undefined ? {} : { 'aria-label': triggerLabel }) }
  if (reason !== null) {
    // Actions next to each entry are left out, so that the reason is not repeated for each of them.
    if (triggerLook?.kind?.startsWith('quiet')) return null
    return (
      <span title={reason}>
        <Action {...look} isDisabled>
          {trigger}
        </Action>
        <span className="heard">{reason}</span>
      </span>
    )
  }
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={toggle}>
      <Action {...look}>{trigger}</Action>
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
  isShownAtField,
  onDone,
  outcome,
  onOutcome,
  children,
}: Omit<DialogLook<Result>, 'needs' | 'isDelegable' | 'trigger'> & {
  readonly children?: (problem: unknown) => ReactNode
  readonly onDone: () => void
  readonly onOutcome: () => void
}) {
  const texts = useTexts().parts
  const [problem, setProblem] = useState<unknown>(null)
  const [isUnderWay, setIsUnderWay] = useState(false)
  const [done, setDone] = useState<{ readonly result: Result } | null>(null)
  // Prevents a second submission before React has rendered the button as disabled.
  const sending = useRef(false)
  const send = async (): Promise<void> => {
    // The user can also submit by pressing Enter in a field. This does not check whether the button is
    // disabled.
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
        {isShownAtField?.(problem) ? null : <ProblemNote error={problem} />}
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
