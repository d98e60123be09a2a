/** What pages of the service may load and do, as their `Content-Security-Policy` says it. */

/** Nothing but what comes from here: no script and no style inside of the page, none of another host, and no frame around it. */
export const OWN_FILES_ONLY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Style sheets have icons in them.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Besides, no text becomes markup: what the name of a user or a tenant holds cannot act. */
export const TEXT_STAYS_TEXT = `${OWN_FILES_ONLY}; require-trusted-types-for 'script'; trusted-types 'none'`
