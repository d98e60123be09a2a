/** Measures how wide the browser renders texts in the graph. */
const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"

/** Fonts of the texts. They must match `styles/model-graph.css`. */
const FONTS = {
  title: `600 15px ${FAMILY}`,
  far: `600 20px ${FAMILY}`,
  row: `14px ${FAMILY}`,
  note: `12.5px ${FAMILY}`,
  label: `13px ${FAMILY}`,
} as const

export type Lettering = keyof typeof FONTS

let pen: CanvasRenderingContext2D | null = null

export function widthOf(text: string, lettering: Lettering): number {
  pen ??= document.createElement('canvas').getContext('2d')!
  pen.font = FONTS[lettering]
  return pen.measureText(text).width
}

/** Returns the text, truncated so that it fits into the given width. */
export function clipped(text: string, lettering: Lettering, width: number): string {
  if (widthOf(text, lettering) <= width) return text
  let [fits, tooLong] = [0, text.length]
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1
    if (widthOf(`${text.slice(0, middle)}…`, lettering) <= width) fits = middle
    else tooLong = middle
  }
  return `${text.slice(0, fits)}…`
}
