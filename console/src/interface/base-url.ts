/**
 * Base URL of the service, derived from the address of the page. It is also correct if a proxy adds a prefix
 * to the path.
 */
export const SERVICE = new URL('.', document.baseURI.split('#', 1)[0]!).href.replace(/\/$/, '')
