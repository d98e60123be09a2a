/**
 * Error boundary for a part of the page. It shows an error if the code of this part has a defect, or if its
 * files could not be loaded, for example because the service was updated. The rest of the page can still be
 * used.
 */
import { Component, type ReactNode } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { Action } from './action.tsx'
import { ProblemNote } from './problem-note.tsx'

interface Props {
  /** Current address. If it changes, the error is reset. */
  readonly address: string
  readonly children: ReactNode
}

interface State {
  readonly address: string
  readonly error: unknown
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { address: this.props.address, error: null }

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error }
  }

  static getDerivedStateFromProps({ address }: Props, state: State): State | null {
    return address === state.address ? null : { address, error: null }
  }

  override render(): ReactNode {
    const { error } = this.state
    return error === null ? this.props.children : <ErrorPage error={error} />
  }
}

/**
 * Shows the error and a button that reloads the page. A reload is necessary because browsers do not retry a
 * module that failed to load. It keeps the key, which is in the session storage of the tab.
 */
function ErrorPage({ error }: { readonly error: unknown }) {
  const texts = useTexts().parts
  return (
    <article className="page">
      <h1 tabIndex={-1} ref={heading => heading?.focus()}>
        {texts.pageError}
      </h1>
      <p>{texts.pageErrorHelp}</p>
      <div className="row">
        <Action kind="primary" onPress={() => location.reload()}>
          {texts.reload}
        </Action>
      </div>
      <ProblemNote error={error} />
    </article>
  )
}
