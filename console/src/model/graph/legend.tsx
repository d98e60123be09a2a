/** Legend for the lines of the graph. */
import { useTexts } from '../../texts/texts.tsx'

export function Legend() {
  const texts = useTexts().model.graph.legend
  return (
    <ul className="graph-legend soft small">
      <li>
        <svg width="34" height="10" aria-hidden="true" className="graph-link">
          <path className="relation" d="M0 5H27" />
          <path className="point" d="M26 1l8 4-8 4z" />
        </svg>
        {texts.relation}
      </li>
      <li>
        <svg width="34" height="10" aria-hidden="true" className="graph-link">
          <path className="derived" d="M0 5H27" />
          <path className="point derived" d="M26 1l8 4-8 4z" />
        </svg>
        {texts.derivation}
      </li>
      <li>{texts.loop}</li>
      <li>{texts.keys}</li>
    </ul>
  )
}
