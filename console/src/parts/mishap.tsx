/** A part of the page that broke: its files could not be loaded, as after an update of the service, or it has a defect. The rest stays. */
import { Component, type ReactNode } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { Action } from './action.tsx'
import { ProblemNote } from './problem-note.tsx'

interface Props {
  /** Where one is: who goes elsewhere leaves it behind. */
  readonly place: string
  readonly children: ReactNode
}

interface State {
  readonly place: string
  readonly error: unknown
}

export class MishapBoundary extends Component<Props, State> {
  override state: State = { place: this.props.place, error: null }

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error }
  }

  static getDerivedStateFromProps({ place }: Props, state: State): State | null {
    return place === state.place ? null : { place, error: null }
  }

  override render(): ReactNode {
    const { error } = this.state
    return error === null ? this.props.children : <Mishap error={error} />
  }
}

/** What failed to load is not tried again by itself: the page is loaded anew, and the key stays in its tab. */
function Mishap({ error }: { readonly error: unknown }) {
  const texts = useTexts().parts
  return (
    <article className="page">
      <h1 tabIndex={-1} ref={heading => heading?.focus()}>
        {texts.mishap}
      </h1>
      <p>{texts.mishapHelp}</p>
      <div className="row">
        <Action kind="primary" onPress={() => location.reload()}>
          {texts.loadAnew}
        </Action>
      </div>
      <ProblemNote error={error} />
    </article>
  )
}
