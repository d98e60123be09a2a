/** Addresses whose traffic others can read. */

/** Whether the URL is `http` and its host is not a loopback address. Such a connection can be intercepted. */
export function isExposed(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
