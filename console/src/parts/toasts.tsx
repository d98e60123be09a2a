/**
 * Toasts: messages about completed changes at the lower edge of the page. A toast can have an undo button.
 */
import { Button } from 'react-aria-components/Button'
import { Text } from 'react-aria-components/Text'
import {
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast'
import { useTexts } from '../texts/texts.tsx'
import { useProblemText } from './problem-note.tsx'

interface Notification {
  readonly text: string | null
  readonly problem: unknown
  readonly undo: (() => void) | null
}

const SHOWN_MS = 12_000
/**
 * Time for which a toast with an undo button is shown. It is long enough for users who read slowly or need
 * many key presses to reach the button.
 */
const UNDO_MS = 60_000

const queue = new ToastQueue<Notification>({ maxVisibleToasts: 3 })

/** `undo` reverts the change. It is null if the change cannot be undone. */
export function notify(text: string, undo: (() => void) | null = null): void {
  queue.add({ text, problem: null, undo }, { timeout: undo === null ? SHOWN_MS : UNDO_MS })
}

/** Shows an error that is not about a field on the screen. */
export function notifyProblem(problem: unknown): void {
  queue.add({ text: null, problem, undo: null })
}

/**
 * Removes all messages. Called when the session ends, because the messages and their undo actions belong to
 * that session.
 */
export function clearNotifications(): void {
  queue.clear()
}

export function Toasts() {
  const texts = useTexts().parts
  return (
    <ToastRegion queue={queue} className="toasts" aria-label={texts.messages}>
      {({ toast }) => (
        <Toast toast={toast} className={`toast appears ${toast.content.text === null ? 'problem' : ''}`}>
          <ToastContent>
            <Text slot="title">
              <NotificationText {...toast.content} />
            </Text>
          </ToastContent>
          {toast.content.undo === null ? null : (
            <Button
              className="action small"
              onPress={() => {
                queue.close(toast.key)
                toast.content.undo?.()
              }}
            >
              {texts.undo}
            </Button>
          )}
          <Button slot="close" className="action quiet small" aria-label={texts.dismiss}>
            ✕
          </Button>
        </Toast>
      )}
    </ToastRegion>
  )
}

function NotificationText({ text, problem }: Notification) {
  const problemText = useProblemText(problem)
  return <>{text ?? problemText}</>
}
