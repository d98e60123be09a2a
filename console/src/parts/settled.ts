/** What is typed, once the typing pauses: the service is asked for that, and not for every letter. */
import { useEffect, useState } from 'react'

const PAUSE_MS = 200

export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
