/** Gives the reader a file that the page has made. */

/** By then the browser has taken hold of it. */
const TAKEN_MS = 60_000

export function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), TAKEN_MS)
}
