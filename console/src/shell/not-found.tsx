/** Page for an unknown address. */
import { useTexts } from '../texts/texts.tsx'

export function NotFound() {
  return <p className="empty">{useTexts().parts.notFound}</p>
}
