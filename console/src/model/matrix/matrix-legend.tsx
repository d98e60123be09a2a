/** Legend for the marks in the cells. */
import { useTexts } from '../../texts/texts.tsx'
import { CellMark } from './cell-mark.tsx'

export function MatrixLegend() {
  const texts = useTexts().model.matrix.legend
  return (
    <ul className="row small soft">
      <li className="row tight-end">
        <CellMark isDirect isInherited={false} /> {texts.direct}
      </li>
      <li className="row tight-end">
        <CellMark isDirect={false} isInherited /> {texts.inherited}
      </li>
      <li className="row tight-end">
        <CellMark isDirect={false} isInherited={false} /> {texts.none}
      </li>
    </ul>
  )
}
