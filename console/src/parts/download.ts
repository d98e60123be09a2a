/** Offers a generated file as a download. */

/** Delay in milliseconds before the object URL is released. By then, the browser has read the file. */
const TAKEN_MS = 60_000

export function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), TAKEN_MS)
}
