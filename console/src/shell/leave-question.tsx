/** Dialog that asks whether to discard unsaved edits. The keys Escape and Enter keep the edits. */
import { Dialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { Action } from '../parts/action.tsx'
import { useTexts } from '../texts/texts.tsx'
import { useLeaveQuestion } from './leaving.ts'

export function LeaveQuestion() {
  const texts = useTexts().shell.leaving
  const question = useLeaveQuestion()
  return (
    <ModalOverlay
      className="veil"
      isOpen={question !== null}
      onOpenChange={isOpen => {
        if (!isOpen) question?.stay()
      }}
    >
      <Modal className="dialog-box appears">
        <Dialog className="dialog" role="alertdialog">
          <div className="stack">
            <Heading slot="title" level={2}>
              {texts.title}
            </Heading>
            <p>{texts.sentence}</p>
            <div className="buttons">
              <Action kind="danger" onPress={() => question?.discard()}>
                {texts.discard}
              </Action>
              <Action kind="primary" autoFocus onPress={() => question?.stay()}>
                {texts.stay}
              </Action>
            </div>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
