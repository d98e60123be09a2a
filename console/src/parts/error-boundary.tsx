/**
 * Error boundary for a part of the page: its files could not be loaded, for example after an update of the
 * service, or it has a defect. The rest of the page stays usable.
 */
import { Component, type ReactNode } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { Action } from './action.tsx'
import { ProblemNote } from './problem-note.tsx'

interface Props {
  /** Current address. Navigation to another address resets the error. */
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
 * A module that failed to load is not retried, so the page is reloaded. The key stays in the session storage
 * of the tab.
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
