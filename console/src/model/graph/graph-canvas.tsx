/**
 * The graph of the model. It has one button per type, and lines for relations and derivations. The Tab key
 * moves the focus to the graph only once. Within the graph, an arrow key moves the focus to the neighbor in
 * its direction.
 */
import { type CSSProperties, type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { Action } from '../../parts/action.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { BoxNode } from './box-node.tsx'
import { type GraphModel, neighborsOf } from './graph-model.ts'
import { layout } from './layout.ts'
import { LinkLine } from './link-line.tsx'
import { nextBox } from './next-box.ts'
import { STEP, useView } from './use-view.ts'

/** Minimum initial scale. At this scale, the text is still readable. */
const READABLE = { detailed: 0.6, closed: 0.42 } as const
/** Below this scale, only names are readable. */
const FAR = 0.62

export default function GraphCanvas({
  model,
  isDetailed,
  chosen,
  sought,
  onChoose,
}: {
  readonly model: GraphModel
  readonly isDetailed: boolean
  readonly chosen: string | null
  /** The type for which the user searched last. It is scrolled to the center. */
  readonly sought: { readonly key: string } | null
  readonly onChoose: (key: string | null) => void
}) {
  const texts = useTexts().model.graph
  const arrow = useId()
  const isNarrow = window.innerWidth < 700
  const laidOut = useMemo(
    () =>
      layout(model, {
        isDetailed,
        aspect: isNarrow ? 0.9 : 1.45,
        words: {
          counts: ({ actionCount, roleCount }) => texts.counts(actionCount, roleCount),
          extends: texts.extends,
        },
      }),
    [model, isDetailed, isNarrow, texts],
  )
  const readable = isDetailed ? READABLE.detailed : READABLE.closed
  const { ref, view, size, wantedHeight, zoomBy, show, fit, handlers } = useView(
    laidOut,
    `${isDetailed}`,
    readable,
  )
  const nodes = useRef(new Map<string, SVGGElement>())
  const [focused, setFocused] = useState<string | null>(null)
  const ordered = useMemo(
    () => laidOut.boxes.toSorted((one, other) => one.x - other.x || one.y - other.y),
    [laidOut],
  )
  const stop =
    [focused, chosen].find(key => key !== null && ordered.some(box => box.key === key)) ?? ordered[0]?.key

  const isThere = ordered.some(({ key }) => key === chosen)
  // Scrolls the selected type into view, or to the center if the user searched for it. Runs again when the
  // panel next to the graph has appeared and reduced the size of the graph.
  useEffect(() => {
    const box = laidOut.boxes.find(({ key }) => key === chosen)
    if (box !== undefined && size.width > 0) show(box, sought?.key === chosen)
    // `laidOut` is not a dependency, because a new layout alone must not scroll the graph.
  }, [chosen, sought, size, isThere])

  // A selected type that is not in the graph has no neighbors in it.
  const lit = chosen !== null && isThere ? neighborsOf(chosen, model.links) : null
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === '+' || event.key === '=') zoomBy(STEP)
    else if (event.key === '-') zoomBy(1 / STEP)
    else if (event.key === '0') fit()
    else if (event.key === 'Escape' && chosen !== null) onChoose(null)
    else {
      const next = nextBox(ordered, stop, event.key)
      if (next === null) return
      nodes.current.get(next.key)?.focus({ preventScroll: true })
    }
    event.preventDefault()
  }

  return (
    <div
      className="graph-box"
      ref={ref}
      style={
        (wantedHeight === null ? {} : { '--wanted': `${Math.ceil(wantedHeight) + 2}px` }) as CSSProperties
      }
    >
      <svg
        role="group"
        aria-label={texts.picture}
        aria-describedby={`${arrow}-help`}
        onKeyDown={onKeyDown}
        {...handlers}
      >
        <defs>
          <marker
            id={`${arrow}-relation`}
            className="relation"
            viewBox="0 0 10 10"
            refX="9"
            refY="5"
            markerWidth="8"
            markerHeight="8"
            orient="auto"
          >
            <path d="M0 1 10 5 0 9z" />
          </marker>
          <marker
            id={`${arrow}-derived`}
            className="derived"
            viewBox="0 0 10 10"
            refX="9"
            refY="5"
            markerWidth="6"
            markerHeight="6"
            orient="auto"
          >
            <path d="M0 1 10 5 0 9z" />
          </marker>
        </defs>
        <g
          className={!isDetailed && view.scale < FAR ? 'far' : ''}
          transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}
        >
          <g aria-hidden="true">
            {laidOut.links.map(placed => (
              <LinkLine
                key={placed.link.id}
                placed={placed}
                arrow={arrow}
                look={
                  lit === null ? '' : placed.link.from === chosen || placed.link.to === chosen ? 'lit' : 'dim'
                }
              />
            ))}
          </g>
          {ordered.map(box => (
            <BoxNode
              key={box.key}
              box={box}
              heard={heard(box.key)}
              isChosen={box.key === chosen}
              look={lit === null ? '' : lit.has(box.key) ? 'near' : 'dim'}
              isStop={box.key === stop}
              onElement={element => {
                if (element === null) nodes.current.delete(box.key)
                else nodes.current.set(box.key, element)
              }}
              onFocus={() => {
                setFocused(box.key)
                show(box)
              }}
              onPress={() => onChoose(box.key === chosen ? null : box.key)}
            />
          ))}
        </g>
      </svg>
      <div className="graph-tools">
        <Action isSmall aria-label={texts.smaller} onPress={() => zoomBy(1 / STEP)}>
          −
        </Action>
        <Action isSmall aria-label={texts.larger} onPress={() => zoomBy(STEP)}>
          +
        </Action>
        <Action isSmall onPress={fit}>
          {texts.whole}
        </Action>
      </div>
      <p id={`${arrow}-help`} className="heard">
        {texts.pictureHelp}
      </p>
    </div>
  )

  function heard(key: string): string {
    const box = model.boxes.find(each => each.key === key)!
    const neighbors = [...neighborsOf(key, model.links)].filter(each => each !== key)
    return texts.heard(box.name, box.key, texts.counts(box.actionCount, box.roleCount), neighbors.join(', '))
  }
}
